#include "pusher/units/follower_lists.h"

#include <algorithm>
#include <limits>

namespace fanline::pusher {
namespace {

bool Before(UserId a, UserId b) { return std::pair(BucketOf(a), a) < std::pair(BucketOf(b), b); }

}  // namespace

const FollowerLists::Followers* FollowerLists::Find(Range range, UserId author, Time now) {
  const auto at = lists_.find({range, author});
  if (at == lists_.end() || (!at->second.whole && whole_alone_)) return nullptr;
  if (now - at->second.since > age_) {
    Remove(at);
    return nullptr;
  }
  by_use_.splice(by_use_.end(), by_use_, at->second.used);
  return &at->second.followers;
}

uint64_t FollowerLists::Begin(Range range, UserId author, Time now) {
  Forget(range, author);
  const Key key{range, author};
  const auto used = by_use_.insert(by_use_.end(), key);
  const auto at = lists_.emplace(key, List{{}, ++numbers_, false, now, used}).first;
  bytes_ += BytesOf(at->second);
  MakeRoom();
  return numbers_;
}

void FollowerLists::Append(Range range, UserId author, uint64_t number, const Followers& page,
                           bool last) {
  const auto at = lists_.find({range, author});
  if (at == lists_.end() || at->second.number != number || at->second.whole) return;
  List& list = at->second;
  bytes_ -= BytesOf(list);
  list.followers.insert(list.followers.end(), page.begin(), page.end());
  if (last) list.followers.shrink_to_fit();
  list.whole = last;
  by_use_.splice(by_use_.end(), by_use_, list.used);
  Changed(at);
}

void FollowerLists::Set(Range range, UserId author, UserId reader, bool follows) {
  const auto at = lists_.find({range, author});
  if (at == lists_.end()) return;
  List& list = at->second;
  if (!list.whole) return Remove(at);  // its pages may have passed the reader
  bytes_ -= BytesOf(list);
  const auto place = std::lower_bound(list.followers.begin(), list.followers.end(), reader, Before);
  const bool there = place != list.followers.end() && *place == reader;
  if (follows && !there) {
    const auto index = place - list.followers.begin();
    const size_t size = list.followers.size();
    // By itself a vector doubles.
    if (size == list.followers.capacity()) list.followers.reserve(size + size / 8 + 1);
    list.followers.insert(list.followers.begin() + index, reader);
  }
  if (!follows && there) list.followers.erase(place);
  Changed(at);
}

void FollowerLists::Forget(Range range, UserId author) {
  const auto at = lists_.find({range, author});
  if (at != lists_.end()) Remove(at);
}

void FollowerLists::ForgetRange(Range range) {
  auto at = lists_.lower_bound({range, UserId{0}});
  while (at != lists_.end() && at->first.first == range) Remove(at++);
}

void FollowerLists::Remove(Lists::iterator at) {
  bytes_ -= BytesOf(at->second);
  by_use_.erase(at->second.used);
  lists_.erase(at);
}

void FollowerLists::Changed(Lists::iterator at) {
  bytes_ += BytesOf(at->second);
  BytesOf(at->second) > most_of_one_ ? Remove(at) : MakeRoom();
}

void FollowerLists::MakeRoom() {
  while (bytes_ > most_bytes_ && !by_use_.empty()) Remove(lists_.find(by_use_.front()));
}

}  // namespace fanline::pusher
