// What an application says happened to a post (topic feed-events). An event never carries the
// post's body. schemas/proto/feed_event.proto is the source; event_codec.h decodes it.
#pragma once

#include <cstddef>

#include "fanline/base/time.h"
#include "fanline/model/ids.h"
#include "fanline/model/original.h"

namespace fanline {

enum class EventKind { kPublished, kDeleted, kHidden, kUnhidden, kEdited };

// The one number an event of a kind carries beside its post and author.
enum class EventNumber { kNone, kCreatedAt, kVersion };

struct FeedEvent {
  EventKind kind = EventKind::kPublished;
  PostId post{};
  UserId author{};
  UnixMs created_at = 0;  // EventNumber::kCreatedAt only
  uint64_t version = 0;   // EventNumber::kVersion only: the application's, growing per post, >= 1
  Original repost_of{};   // kPublished only: the post is a repost
  friend bool operator==(const FeedEvent&, const FeedEvent&) = default;
};

// The table of kinds. Once a kind is added, the compiler (-Wswitch) names this place and every
// other that must know the kind.
struct EventTraits {
  const char* name;  // null: there is no such kind
  EventNumber number;
};
constexpr EventTraits TraitsOf(EventKind kind) {
  switch (kind) {
    case EventKind::kPublished:
      return {"post.published", EventNumber::kCreatedAt};
    case EventKind::kDeleted:
      return {"post.deleted", EventNumber::kNone};
    case EventKind::kHidden:
      return {"post.hidden", EventNumber::kVersion};
    case EventKind::kUnhidden:
      return {"post.unhidden", EventNumber::kVersion};
    case EventKind::kEdited:
      return {"post.edited", EventNumber::kVersion};
  }
  return {nullptr, EventNumber::kNone};
}

// The number of kinds. Their values are 0 to kEventKinds - 1.
inline constexpr size_t kEventKinds = [] {
  size_t count = 0;
  while (TraitsOf(static_cast<EventKind>(count)).name != nullptr) ++count;
  return count;
}();

const char* NameOf(EventKind kind);  // the name in the table

}  // namespace fanline
