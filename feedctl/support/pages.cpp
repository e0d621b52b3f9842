#include "feedctl/support/pages.h"

#include <cstdio>

#include "daemon/observe/log.h"
#include "fanline/ports/cursor.h"
#include "feedctl/support/failure.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

std::optional<Position> PlaceOf(const std::string& flag, const std::string& text) {
  const auto place = ParseCursor(text);
  RequireUsage(text.empty() || place ? ""
                                     : flag + ": " + QuotedShort(text) +
                                           " is not a cursor; pass one that a page showed");
  return place;
}

}  // namespace

void AddPlaces(daemon::OptionTable& table, Places& places) {
  table.Add("after", &places.after, "where the page begins: the cursor an earlier page ended with")
      .Unit("CURSOR");
  table
      .Add("newer-than", &places.newer_than,
           "show only what is newer: the cursor of the newest item seen before")
      .Unit("CURSOR");
}

timeline::PageQuery QueryOf(const Places& places, uint32_t limit) {
  return {.limit = limit,
          .older_than = PlaceOf("--after", places.after),
          .newer_than = PlaceOf("--newer-than", places.newer_than)};
}

void PrintPage(const timeline::Page& page, const timeline::PageQuery& query) {
  for (const Item& item : page.items) {
    std::printf("%s  %s\n", daemon::Rfc3339(item.created_at).c_str(), ToString(item.post).c_str());
  }
  if (page.items.empty()) {
    std::printf(query.newer_than   ? "nothing newer\n"
                : query.older_than ? "nothing older\n"
                                   : "nothing to show\n");
  }
  if (page.next) std::printf("next page: --after %s\n", CursorText(*page.next).c_str());
}

Json ItemsOf(const timeline::Page& page) {
  Json items = Json::array();
  for (const Item& item : page.items) {
    items.push_back({{"post_id", ToString(item.post)}, {"created_at_ms", item.created_at}});
  }
  return items;
}

Json NewestOf(const timeline::Page& page) {
  if (page.items.empty()) return {};
  return CursorText(Position{page.items.front().created_at, page.items.front().post});
}

Json NextOf(const timeline::Page& page) {
  return page.next ? Json(CursorText(*page.next)) : Json();
}

}  // namespace fanline::feedctl
