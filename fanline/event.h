// What an application says happened to a post (topic feed-events). The bodies of posts never
// travel here. schemas/proto/feed_event.proto is the source; event_codec.h reads it.
#pragma once

#include "fanline/ids.h"
#include "fanline/time.h"

namespace fanline {

enum class EventKind { kPublished, kDeleted, kHidden, kUnhidden, kEdited };

struct FeedEvent {
  EventKind kind = EventKind::kPublished;
  PostId post{};
  UserId author{};
  UnixMs created_at = 0;  // kPublished only
  uint64_t version = 0;   // kHidden, kUnhidden, kEdited: the application's, growing per post, >= 1
  friend bool operator==(const FeedEvent&, const FeedEvent&) = default;
};

const char* NameOf(EventKind kind);  // "post.published" ...

}  // namespace fanline
