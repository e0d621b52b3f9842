// How new posts of an author reach timelines, and what pushing them would cost
// (docs/decisions/0027-authors-merged-at-read.md, 0030-authors-switched-by-themselves.md).
#pragma once

#include <cstdint>
#include <optional>

#include "fanline/base/time.h"

namespace fanline {

// What a pusher counted when it had written one of the author's posts to one range.
struct AuthorWeight {
  uint64_t live = 0;  // followers with a live timeline in all ranges, estimated
  Duration lag{};     // from publish to delivery
  Duration age{};     // since the count; beyond all limits if there was none
};

struct AuthorMode {
  bool pull = false;                    // new posts are merged at read; else pushed
  bool marked = false;                  // some posts are, or may be, merged at read; never unset
  std::optional<Duration> announced{};  // since followers' live timelines were last told
  bool by_hand = false;                 // the author is never switched by itself
  uint64_t version = 0;                 // grows with each change of pull or by_hand
  Duration since{};                     // pull last changed
  AuthorWeight weight{.age = std::chrono::hours(1'000'000)};
};

}  // namespace fanline
