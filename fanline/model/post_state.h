// The truth about one post: a row of `author_post` (schemas/sql/shard.sql). Rows are sticky: while
// a hint about the post can still arrive, its row is tombstoned, never removed. Deleted is final.
// Hides and edits carry versions; the higher wins. The first created_at wins, and what a repost
// shows comes with it. A missing row reads as a tombstone.
#pragma once

#include <optional>

#include "fanline/model/event.h"
#include "fanline/model/item.h"
#include "fanline/model/original.h"

namespace fanline {

struct PostState {
  std::optional<UnixMs> created_at;  // none: only a delete, hide or edit was seen so far
  bool deleted = false;
  bool hidden = false;
  bool pushed = true;  // decided when the row is made. true: fanned out, false: merged at read
  uint64_t visibility_version = 0;
  uint64_t edit_version = 0;
  Original original{};  // what the post shows, if it is a repost; set with created_at, once

  bool visible() const { return created_at.has_value() && !deleted && !hidden; }
};

// The rule by which an event changes a row. Tests hold the SQL of backends/mysql and the
// simulation's fakes to it. Idempotent and commutative.
inline void ApplyEvent(const FeedEvent& event, PostState& state) {
  switch (event.kind) {
    case EventKind::kPublished:
      if (state.created_at) return;
      state.created_at = event.created_at;
      state.original = event.repost_of;
      return;
    case EventKind::kDeleted:
      state.deleted = true;
      return;
    case EventKind::kHidden:
    case EventKind::kUnhidden:
      if (event.version > state.visibility_version) {
        state.visibility_version = event.version;
        state.hidden = event.kind == EventKind::kHidden;
      }
      return;
    case EventKind::kEdited:
      if (event.version > state.edit_version) state.edit_version = event.version;
      return;
  }
}

}  // namespace fanline
