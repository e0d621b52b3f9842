// Replies as text, so that two servers' replies can be compared and a difference can be read.
// Messages of refusals are left out, because they are for people. Ages count in whole hours.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "fanline/model/author_mode.h"
#include "fanline/model/friendship.h"
#include "fanline/ports/change_log.h"
#include "fanline/ports/forward_edges.h"
#include "fanline/ports/post_store.h"
#include "fanline/ports/range_owners.h"
#include "fanline/ports/reader_ports.h"
#include "fanline/ports/repair_store.h"
#include "fanline/ports/reverse_edges.h"
#include "fanline/ports/truth.h"

namespace fanline::mysql::model {

// Rounded; beyond kLongAgo all are the same.
inline int64_t Hours(Duration age) {
  constexpr int64_t kLongAgo = 10'000;
  const auto hours = std::chrono::floor<std::chrono::hours>(age + std::chrono::minutes(30));
  return std::min<int64_t>(hours.count(), kLongAgo);
}

struct Texts {  // each function finds all others
  static uint64_t Text(uint64_t value) { return value; }
  static int64_t Text(int64_t value) { return value; }
  static uint32_t Text(uint32_t value) { return value; }
  static bool Text(bool value) { return value; }
  static const char* Text(const char* value) { return value; }
  static const std::string& Text(const std::string& value) { return value; }
  static uint64_t Text(UserId user) { return Raw(user); }
  static uint64_t Text(PostId post) { return Raw(post); }

  template <class... T>
  static std::string Words(const T&... values) {
    std::ostringstream out;
    ((out << Text(values) << ' '), ...);
    return out.str();
  }

  static std::string Text(const Status& status) {
    return status.done() ? "done" : status.never() ? "never" : "later: " + status.message;
  }
  static std::string Text(const EdgeState& row) {
    return Words("ver", row.ver, row.live, row.pos, NameOf(row.delivery));
  }
  static std::string Text(const Edge& edge) { return Words(edge.src, edge.dst, edge.state()); }
  static std::string Text(const PostState& post) {
    const auto& [created_at, deleted, hidden, pushed, visibility, edit, original] = post;
    return Words("at", created_at, deleted, hidden, pushed, visibility, edit, "shows",
                 original.post, original.author);
  }
  static std::string Text(const Item& item) {
    return Words(item.post, "of", item.author, "at", item.created_at, "shows", item.original.post,
                 item.original.author);
  }
  static std::string Text(const FollowerCursor& at) { return Words(at.bucket, at.reader); }
  static std::string Text(const PostsOf& posts) {
    return Words(posts.author, posts.pushed, posts.reposts);
  }
  static std::string Text(const Friendship& pair) {
    return Words(NameOf(pair.state), pair.asked_by, pair.ver);
  }
  static std::string Text(const AuthorMode& mode) {
    const auto announced = mode.announced ? std::optional(Hours(*mode.announced)) : std::nullopt;
    return Words(mode.pull ? "pull" : "push", mode.marked, "announced", announced, "by hand",
                 mode.by_hand, "version", mode.version, "since", Hours(mode.since), "live",
                 mode.weight.live, "lag", mode.weight.lag.count(), "age", Hours(mode.weight.age));
  }
  static std::string Text(const EventsApplied::Applied& applied) {
    return Words(applied.pushed, Text(applied.mode), applied.followers, "in", applied.buckets);
  }
  static std::string Text(const EventsApplied& reply) {
    return Words(reply.status, reply.applied, reply.followers);
  }
  static std::string Text(const PostStates& states) { return Words(states.status, states.posts); }
  static std::string Text(const FollowerPage& page) {
    return Words(page.status, page.followers, "no reposts", page.no_reposts, "next", page.next);
  }
  static std::string Text(const SyncTruth& truth) {
    return Words(truth.status, truth.following, truth.no_reposts, truth.marked, truth.visible,
                 "unread", truth.newest_unread);
  }
  static std::string Text(const ItemsRead& read) {
    return Words(read.items, "partial", read.partial, "unread", read.unread);
  }
  static std::string Text(const EdgesApplied::Applied& applied) {
    return Words(applied.ver, applied.written);
  }
  static std::string Text(const EdgesApplied& reply) {
    return Words(reply.status, reply.applied, reply.below_zero);
  }
  static std::string Text(const EdgeChanged& reply) {
    const ForwardChanged& forward = reply.forward;
    return Words(reply.status, forward.edge, forward.changed, forward.over_limit,
                 forward.again_in.has_value(), forward.below_zero);
  }
  static std::string Text(const EdgeAdopted& reply) {
    return Words(reply.status, reply.adopted, reply.edge);
  }
  static std::string Text(const RowsOfEdge& rows) { return Words(rows.reverse, rows.forward); }
  static std::string Text(const RangeOwned& owned) {
    return Words(owned.status, "epoch", owned.epoch, owned.crashes, owned.suspected, owned.refused);
  }

  template <class T>
  static std::string Text(const std::optional<T>& value) {
    return value ? Words(*value) : "none";
  }
  template <class T>
  static std::string Text(const std::vector<T>& values) {
    std::string text = "[";
    for (const T& value : values) text += Words(value) + ", ";
    return text + "]";
  }
};

template <class T>
auto Text(const T& value) {
  return Texts::Text(value);
}
template <class... T>
std::string Words(const T&... values) {
  return Texts::Words(values...);
}

}  // namespace fanline::mysql::model
