// Followers of authors, as this pusher has read them, so that it need not read them again for each
// post. A list holds all followers of an author in a range whose follow brings posts, whether they
// are live or not.
//
// A list says of every edge what its row said at some moment since the last sync of that edge in
// the author's lane; of which followers want no reposts it says, too. It is filled by a run that
// reads all pages. Each sync sets its edge, before the hints behind it are taken. Every writer of a
// `follower` row appends a sync after its commit, so no change is overlooked. What changes rows
// otherwise (SQL by hand, a shard that lost some) shows after `age` at the latest.
//
// All lists together take at most `bytes`. Those that were not used lately go first: a list that
// was used gets one more turn, in place of an exact order that each look-up would have to keep. A
// list that is being filled counts, too. One that takes more than a thirty-second of `bytes`, and
// more than 1 KB, is not kept: a few celebrities would leave no room for others. For `age` it is
// known to be too long, so that not each of their posts fills it and pushes others out. Lists are
// forgotten with the claim of their range.
//
// Passive, not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fanline/base/mutation_switches.h"
#include "fanline/base/time.h"
#include "fanline/model/bucket.h"
#include "fanline/model/ids.h"
#include "fanline/ports/truth.h"

namespace fanline::pusher {

class FollowerLists {
 public:
  using Followers = std::vector<UserId>;  // in the order of pages

  FollowerLists(size_t bytes, Duration age, const MutationSwitches& guards = {})
      : most_bytes_(bytes),
        most_of_one_(std::max<size_t>(bytes / 32, 1'024)),
        age_(age),
        whole_alone_(guards.whole_lists),
        keeps_choices_(guards.no_reposts_listed) {}
  FollowerLists(const FollowerLists&) = delete;

  // The author's list, or null. It stays where it is until a method that is not const is called.
  const Followers* Find(Range range, UserId author, Time now);

  // Begins to fill a list. An unfinished one of the author is forgotten. Returns its number, by
  // which its pages come; 0: it is too long.
  uint64_t Begin(Range range, UserId author, Time now);
  // The next page; `last`: the list is whole. Nothing is kept if the list was forgotten meanwhile,
  // or if there is no room for it.
  void Append(Range range, UserId author, uint64_t number, const Followers& page, bool last,
              const Followers& no_reposts = {});
  // Of a list that was found, those who want no reposts.
  const Followers& NoReposts(Range range, UserId author) const;

  // A sync has read that the edge is there, or not, and whether it brings no reposts. Does nothing
  // without a list.
  void Set(Range range, UserId author, UserId reader, bool follows, bool no_reposts = false);
  bool Has(Range range, UserId author) const;

  void Forget(Range range, UserId author);
  void ForgetRange(Range range);

  size_t bytes() const { return bytes_; }
  size_t lists() const { return turns_.size(); }

 private:
  using Key = std::pair<Range, UserId>;
  struct List {
    Followers followers;
    Followers no_reposts;  // of these
    uint64_t number = 0;   // 0: it is too long, and empty
    bool whole = false;
    Time since{};           // when it was begun to be filled
    bool was_used = false;  // since it had its last turn
    std::list<Key>::iterator turn;
  };
  using Lists = std::unordered_map<UserId, List>;  // of a range, by author
  // So many that were used may get one more turn before one goes.
  static constexpr int kMoreTurns = 64;
  // About what a list takes beside its followers.
  static constexpr size_t kBytesPerList = 192;

  static size_t BytesOf(const List& list) {
    const size_t users = list.followers.capacity() + list.no_reposts.capacity();
    return kBytesPerList + users * sizeof(UserId);
  }
  List* ListOf(Range range, UserId author);
  void Remove(const List& list);
  // The list has grown: its followers go if it is too long, and others if there is no room.
  void Changed(List& list);
  void MakeRoom();

  const size_t most_bytes_;
  const size_t most_of_one_;
  const Duration age_;
  const bool whole_alone_, keeps_choices_;
  std::map<Range, Lists> lists_;
  std::list<Key> turns_;  // the next to go first
  size_t bytes_ = 0;
  uint64_t numbers_ = 0;
};

}  // namespace fanline::pusher
