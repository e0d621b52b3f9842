#include "api/rebuilds.h"

#include <utility>

#include "fanline/ports/reader_ports.h"

namespace fanline::api {

Rebuilds::Rebuilds(std::vector<Rebuild> rebuilds, Limits limits, Metrics& metrics,
                   std::function<Time()> clock)
    : limits_(limits), metrics_(metrics), clock_(std::move(clock)) {
  for (Rebuild& rebuild : rebuilds) {
    threads_.emplace_back([this, rebuild = std::move(rebuild)] { Run(rebuild); });
  }
}

Rebuilds::~Rebuilds() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool Rebuilds::Offer(UserId reader, bool known) {
  const std::lock_guard lock(mutex_);
  if (taken_.contains(reader)) return true;
  if (waiting_.size() >= limits_.waiting || (!known && !StrangerFits())) return false;
  taken_.insert(reader);
  waiting_.push_back(reader);
  metrics_.RebuildsWait(waiting_.size());
  work_.notify_one();
  return true;
}

bool Rebuilds::StrangerFits() {
  const Time now = clock_();
  while (!strangers_.empty() && strangers_.front() <= now) strangers_.pop_front();
  if (strangers_.size() >= limits_.strangers) return false;
  strangers_.push_back(now + kEmptyTimelineTtl);
  return true;
}

void Rebuilds::Run(const Rebuild& rebuild) {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    const UserId reader = waiting_.front();
    waiting_.pop_front();
    metrics_.RebuildsWait(waiting_.size());
    lock.unlock();
    rebuild(reader);
    lock.lock();
    taken_.erase(reader);
  }
}

}  // namespace fanline::api
