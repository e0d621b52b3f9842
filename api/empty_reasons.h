// A cache of why users' timelines are empty: for each user the shards are asked at most once in
// kFor. Only the reason may be that old, never what the page shows. Bounded. Thread-safe.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "fanline/base/time.h"
#include "fanline/model/ids.h"
#include "timeline/reader.h"

namespace fanline::api {

class EmptyReasons {
 public:
  static constexpr Duration kFor = std::chrono::seconds(30);
  static constexpr size_t kMost = 10'000;

  std::optional<timeline::EmptyReason> Find(UserId user, Time now) {
    const std::lock_guard lock(mutex_);
    Forget(now);
    const auto found = reasons_.find(user);
    if (found == reasons_.end()) return std::nullopt;
    return found->second;
  }
  void Note(UserId user, timeline::EmptyReason reason, Time now) {
    const std::lock_guard lock(mutex_);
    Forget(now);
    if (reasons_.size() >= kMost) return;
    if (reasons_.insert_or_assign(user, reason).second) ends_.emplace_back(now + kFor, user);
  }

 private:
  void Forget(Time now) {
    while (!ends_.empty() && ends_.front().first <= now) {
      reasons_.erase(ends_.front().second);
      ends_.pop_front();
    }
  }

  std::mutex mutex_;
  std::unordered_map<UserId, timeline::EmptyReason> reasons_;
  std::deque<std::pair<Time, UserId>> ends_;
};

}  // namespace fanline::api
