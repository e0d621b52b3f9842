#include "pusher/units/follower_lists.h"

#include <algorithm>
#include <utility>

namespace fanline::pusher {
namespace {

bool Before(UserId a, UserId b) { return std::pair(BucketOf(a), a) < std::pair(BucketOf(b), b); }

// Whether the reader is among those of the list, from now on.
void Put(FollowerLists::Followers& list, UserId reader, bool is_in) {
  const auto place = std::lower_bound(list.begin(), list.end(), reader, Before);
  const bool there = place != list.end() && *place == reader;
  if (is_in && !there) {
    const auto index = place - list.begin();
    const size_t size = list.size();
    // By itself a vector doubles.
    if (size == list.capacity()) list.reserve(size + size / 8 + 1);
    list.insert(list.begin() + index, reader);
  }
  if (!is_in && there) list.erase(place);
}

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
  list->was_used = true;
  return &list->followers;
}

uint64_t FollowerLists::Begin(Range range, UserId author, Time now) {
  if (List* known = ListOf(range, author)) {
    known->was_used = true;
    if (known->number == 0 && now - known->since <= age_) return 0;
    Remove(*known);
  }
  const auto turn = turns_.insert(turns_.end(), Key{range, author});
  const List& list =
      lists_[range].emplace(author, List{{}, {}, ++numbers_, false, now, true, turn}).first->second;
  bytes_ += BytesOf(list);
  MakeRoom();
  return numbers_;
}

void FollowerLists::Append(Range range, UserId author, uint64_t number, const Followers& page,
                           bool last, const Followers& no_reposts) {
  List* list = ListOf(range, author);
  if (list == nullptr || number == 0 || list->number != number || list->whole) return;
  bytes_ -= BytesOf(*list);
  list->followers.insert(list->followers.end(), page.begin(), page.end());
  if (last) list->followers.shrink_to_fit();
  if (keeps_choices_) {
    list->no_reposts.insert(list->no_reposts.end(), no_reposts.begin(), no_reposts.end());
  }
  list->whole = last;
  list->was_used = !last;  // until it is whole nobody can use it
  Changed(*list);
}

const FollowerLists::Followers& FollowerLists::NoReposts(Range range, UserId author) const {
  return lists_.at(range).at(author).no_reposts;
}

void FollowerLists::Set(Range range, UserId author, UserId reader, bool follows, bool no_reposts) {
  List* list = ListOf(range, author);
  if (list == nullptr || list->number == 0) return;
  if (!list->whole) return Remove(*list);  // its pages may have passed the reader
  bytes_ -= BytesOf(*list);
  Put(list->followers, reader, follows);
  Put(list->no_reposts, reader, follows && no_reposts && keeps_choices_);
  Changed(*list);
}

void FollowerLists::Forget(Range range, UserId author) {
  const List* list = ListOf(range, author);
  if (list != nullptr) Remove(*list);
}

void FollowerLists::ForgetRange(Range range) {
  for (const auto& [author, list] : lists_[range]) {
    bytes_ -= BytesOf(list);
    turns_.erase(list.turn);
  }
  lists_.erase(range);
}

void FollowerLists::Remove(const List& list) {
  bytes_ -= BytesOf(list);
  const auto [range, author] = *list.turn;
  turns_.erase(list.turn);
  lists_.at(range).erase(author);
}

void FollowerLists::Changed(List& list) {
  if (BytesOf(list) > most_of_one_) list = {{}, {}, 0, false, list.since, list.was_used, list.turn};
  bytes_ += BytesOf(list);
  MakeRoom();
}

void FollowerLists::MakeRoom() {
  int more_turns = kMoreTurns;
  while (bytes_ > most_bytes_ && !turns_.empty()) {
    const auto& [range, author] = turns_.front();
    List& list = lists_.at(range).at(author);
    if (std::exchange(list.was_used, false) && more_turns-- > 0) {
      turns_.splice(turns_.end(), turns_, turns_.begin());
    } else {
      Remove(list);
      more_turns = kMoreTurns;
    }
  }
}

}  // namespace fanline::pusher
