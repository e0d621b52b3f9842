// How commands ask for pages of posts and show them.
#pragma once

#include <string>

#include "daemon/options/options.h"
#include "feedctl/support/json.h"
#include "timeline/page.h"

namespace fanline::feedctl {

struct Places {
  std::string after, newer_than;  // cursors; empty: none
};

// Adds --after and --newer-than. `places` outlives the table.
void AddPlaces(daemon::OptionTable& table, Places& places);

// Failure 64 when one of them is not a cursor.
[[nodiscard]] timeline::PageQuery QueryOf(const Places& places, uint32_t limit);

// To stdout: a line for each item, and what to type for the previous and the next page.
void PrintPage(const timeline::Page& page, const timeline::PageQuery& query);

// The same in JSON: the items, and the cursors or null.
[[nodiscard]] Json ItemsOf(const timeline::Page& page);
[[nodiscard]] Json NewestOf(const timeline::Page& page);
[[nodiscard]] Json NextOf(const timeline::Page& page);

}  // namespace fanline::feedctl
