// Collects a reader's newest items from the truth: the newest `want` visible posts behind one
// position and before another. They are of all followed authors, and of the reader if home
// timelines hold the reader's own posts; pushed, merged at read, or both.
//
// One read takes what all authors posted within a span of time. It costs a shard authors * 5 us +
// rows * 1 us, where a select for each author costs 30 us each. The times of the authors' last
// posts suggest how far back the first span goes. When too few items come, the next span goes
// further, and the third has no end. A read ends after a bounded number of items. Authors that it
// did not reach are read in a span narrowed by the items held by then, so no author of a million
// posts is read far past what is wanted.
//
// Reposts by authors of whom the reader wants none are not read: an author may have posted nothing
// else for years.
//
// Passive: needed() says which read comes next, On...() takes its answer. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "fanline/model/item.h"
#include "fanline/ports/reader_truth.h"

namespace fanline::timeline {

inline Position PlaceOf(const Item& item) { return {item.created_at, item.post}; }
// The item that is or was there.
inline Item ItemAt(const Position& place) { return {place.post, place.created_at}; }

struct NeedFollowees {};
struct NeedLastAt {
  std::vector<UserId> authors;
};
struct NeedItems {
  std::vector<PostsOf> posts;
  TimeSpan span;
  uint32_t limit = 0;  // of items of all authors together
};
struct NothingNeeded {};
using PullNeed = std::variant<NeedFollowees, NeedLastAt, NeedItems, NothingNeeded>;

// The requests of a read of the truth that is needed.
template <class Need>
TruthReads::Requests RequestsFor(const Need& need, UserId reader, TruthReads& reads) {
  if (std::holds_alternative<NeedFollowees>(need)) return reads.Followees(reader);
  if (const auto* last_at = std::get_if<NeedLastAt>(&need)) return reads.LastAt(last_at->authors);
  const auto& items = std::get<NeedItems>(need);
  return reads.Items(items.posts, items.span, items.limit);
}

struct PullLimits {
  uint32_t want = 0;
  // If several items share the time of the last wanted one, all are taken as long as they are at
  // most `spare` more than `want`: a floor in their midst would hide them all.
  uint32_t spare = 0;
  uint32_t items_per_read = 0;  // 0: four times `want`
};

// Which posts: a pushed one stands in live timelines, one that is merged at read in none.
enum class Pulled { kAll, kPushed, kMergedAtRead };

class Pull {
 public:
  // Leaves out `after` and what comes before it, `until` and what comes behind it. `own`: the
  // reader, whose posts are wanted like those of a followed author.
  Pull(PullLimits limits, std::optional<Position> after, std::optional<Position> until,
       Pulled which, std::optional<UserId> own);

  PullNeed needed() const;
  // `no_reposts`: of these authors, ascending.
  void OnFollowees(std::vector<UserId> authors, std::vector<UserId> no_reposts = {});
  void OnLastAt(std::vector<AuthorLastAt> authors);
  void OnItems(ItemsRead read);

  // When done, with a floor: goes on behind the last item, to the next `want`.
  void GoOn(uint32_t want);

  bool done() const { return stage_ == Stage::kDone; }
  // When done: at most `want` + `spare`, newest first.
  const std::vector<Item>& items() const { return items_; }
  // When done: the time of the newest item before `until` that may have been left out; kNoFloor:
  // none was.
  Floor floor() const { return floor_; }
  // When done: the authors who may have posts that are merged at read.
  const std::vector<UserId>& marked() const { return marked_; }

 private:
  enum class Stage { kFollowees, kLastAt, kItems, kDone };
  struct Source {
    PostsOf posts;
    UnixMs last_at = 0;
  };

  bool Wants(const Item& item) const;
  void Begin();
  size_t most() const { return size_t{limits_.want} + limits_.spare; }
  bool enough() const { return items_.size() > limits_.want; }
  UnixMs FirstLength() const;
  void StartSpan(UnixMs length);
  void Shorten(std::vector<Item> read);
  void Narrow();
  void SpanRead();
  void End();

  PullLimits limits_;
  std::optional<Position> after_, until_;
  Pulled which_;
  std::optional<UserId> own_;
  std::optional<UnixMs> bottom_;  // only later items are asked for
  Stage stage_ = Stage::kFollowees;
  std::vector<UserId> followees_, no_reposts_;
  std::vector<UserId> marked_;
  std::vector<Source> sources_;  // newest last_at first
  UnixMs newest_ = 0;            // the first span's younger end
  UnixMs length_ = 0;            // of all spans so far
  int spans_ = 0;
  TimeSpan span_;
  std::vector<Source> unread_;     // of this span
  int crowded_ = 0;                // reads of it in a row that left most of these unread
  std::optional<Source> partial_;  // read as far as partial_end_
  Position partial_end_;
  std::vector<Item> items_;
  Floor floor_ = kNoFloor;
};

}  // namespace fanline::timeline
