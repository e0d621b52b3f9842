#include "pusher/units/follower_lists.h"

#include <algorithm>

namespace fanline::pusher {
namespace {

bool Before(UserId a, UserId b) { return std::pair(BucketOf(a), a) < std::pair(BucketOf(b), b); }

}  // namespace

FollowerLists::List* FollowerLists::ListOf(Range range, UserId author) {
  Lists& lists = lists_[range];
  const auto at = lists.find(author);
  return at == lists.end() ? nullptr : &at->second;
}

bool FollowerLists::Has(Range range, UserId author) const {
  const auto lists = lists_.find(range);
  if (lists == lists_.end()) return false;
  const auto list = lists->second.find(author);
  return list != lists->second.end() && list->second.number != 0;
}

const FollowerLists::Followers* FollowerLists::Find(Range range, UserId author, Time now) {
  List* list = ListOf(range, author);
  if (list == nullptr || (!list->whole && whole_alone_)) return nullptr;
  if (now - list->since > age_) {
    Remove(*list);
    return nullptr;
  }
  by_use_.splice(by_use_.end(), by_use_, list->used);
  return &list->followers;
}

uint64_t FollowerLists::Begin(Range range, UserId author, Time now) {
  if (const List* known = ListOf(range, author)) {
    by_use_.splice(by_use_.end(), by_use_, known->used);
    if (known->number == 0 && now - known->since <= age_) return 0;
    Remove(*known);
  }
  const auto used = by_use_.insert(by_use_.end(), Key{range, author});
  const List& list =
      lists_[range].emplace(author, List{{}, ++numbers_, false, now, used}).first->second;
  bytes_ += BytesOf(list);
  MakeRoom();
  return numbers_;
}

void FollowerLists::Append(Range range, UserId author, uint64_t number, const Followers& page,
                           bool last) {
  List* list = ListOf(range, author);
  if (list == nullptr || number == 0 || list->number != number || list->whole) return;
  bytes_ -= BytesOf(*list);
  list->followers.insert(list->followers.end(), page.begin(), page.end());
  if (last) list->followers.shrink_to_fit();
  list->whole = last;
  by_use_.splice(by_use_.end(), by_use_, list->used);
  Changed(*list);
}

void FollowerLists::Set(Range range, UserId author, UserId reader, bool follows) {
  List* list = ListOf(range, author);
  if (list == nullptr || list->number == 0) return;
  if (!list->whole) return Remove(*list);  // its pages may have passed the reader
  bytes_ -= BytesOf(*list);
  Followers& followers = list->followers;
  const auto place = std::lower_bound(followers.begin(), followers.end(), reader, Before);
  const bool there = place != followers.end() && *place == reader;
  if (follows && !there) {
    const auto index = place - followers.begin();
    const size_t size = followers.size();
    // By itself a vector doubles.
    if (size == followers.capacity()) followers.reserve(size + size / 8 + 1);
    followers.insert(followers.begin() + index, reader);
  }
  if (!follows && there) followers.erase(place);
  Changed(*list);
}

void FollowerLists::Forget(Range range, UserId author) {
  const List* list = ListOf(range, author);
  if (list != nullptr) Remove(*list);
}

void FollowerLists::ForgetRange(Range range) {
  for (const auto& [author, list] : lists_[range]) {
    bytes_ -= BytesOf(list);
    by_use_.erase(list.used);
  }
  lists_.erase(range);
}

void FollowerLists::Remove(const List& list) {
  bytes_ -= BytesOf(list);
  const auto [range, author] = *list.used;
  by_use_.erase(list.used);
  lists_.at(range).erase(author);
}

void FollowerLists::Changed(List& list) {
  if (BytesOf(list) > most_of_one_) list = {Followers(), 0, false, list.since, list.used};
  bytes_ += BytesOf(list);
  MakeRoom();
}

void FollowerLists::MakeRoom() {
  while (bytes_ > most_bytes_ && !by_use_.empty()) {
    const auto& [range, author] = by_use_.front();
    Remove(lists_.at(range).at(author));
  }
}

}  // namespace fanline::pusher
