#include "api/rebuilds.h"

#include <iterator>
#include <utility>

#include "fanline/ports/reader_ports.h"

namespace fanline::api {

Rebuilds::Rebuild Rebuilds::By(timeline::Reader reader, Metrics& metrics) {
  return [reader, &metrics](UserId user, const Admit& admit) mutable {
    timeline::RebuildResult result{};
    const Status status = reader.Activate(user, &result, admit);
    status.done() ? metrics.RebuildEnded(result)
                  : metrics.RebuildFailed(status.resource, status.message);
  };
}

Rebuilds::Rebuilds(std::vector<Rebuild> rebuilds, Limits limits, Metrics& metrics,
                   std::function<Time()> clock)
    : limits_(limits),
      backlog_(kBacklog * rebuilds.size()),
      metrics_(metrics),
      clock_(std::move(clock)) {
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
  for (const auto& [reader, taken] : taken_) {
    for (const Then& then : taken.then) then(false);
  }
}

bool Rebuilds::Offer(UserId reader, bool known) {
  const std::lock_guard lock(mutex_);
  if (taken_.contains(reader)) return true;
  if (waiting_.size() >= limits_.waiting || (!known && !StrangerFits())) return false;
  Take(reader, {});
  return true;
}

bool Rebuilds::HasBacklog() {
  const std::lock_guard lock(mutex_);
  return waiting_.size() >= backlog_;
}

bool Rebuilds::Await(UserId reader, Then then) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return false;
  const auto taken = taken_.find(reader);
  if (taken == taken_.end()) {
    if (waiting_.size() >= limits_.waiting) return false;
    Take(reader, {.judged = false, .then = {std::move(then)}});
  } else {
    taken->second.then.push_back(std::move(then));
  }
  AwaitFor(reader, taken_.at(reader).number);
  return true;
}

void Rebuilds::AwaitFor(UserId reader, uint64_t number) {
  awaited_.push_back({reader, number, clock_() + limits_.longest_wait, begun_ever_});
}

void Rebuilds::Take(UserId reader, Taken taken) {
  taken.number = taken_ever_++;
  taken_.emplace(reader, std::move(taken));
  waiting_.push_back(reader);
  metrics_.RebuildsWait(waiting_.size());
  work_.notify_one();
}

bool Rebuilds::StrangerFits() {
  const Time now = clock_();
  while (!strangers_.empty() && strangers_.front() <= now) strangers_.pop_front();
  if (strangers_.size() >= limits_.strangers) return false;
  strangers_.push_back(now + kEmptyTimelineTtl);
  return true;
}

// Pages that have waited too long go on without their rebuild.
std::vector<Rebuilds::Then> Rebuilds::TakeOverdue() {
  std::vector<Then> overdue;
  const Time now = clock_();
  while (!awaited_.empty() && awaited_.front().until <= now) {
    const Awaited wait = awaited_.front();
    awaited_.pop_front();
    const auto taken = taken_.find(wait.reader);
    if (taken == taken_.end() || taken->second.number != wait.number) continue;  // it has ended
    if (wait.number < begun_ever_ + (begun_ever_ - wait.begun)) {
      AwaitFor(wait.reader, wait.number);  // the queue moves
      continue;
    }
    std::move(taken->second.then.begin(), taken->second.then.end(), std::back_inserter(overdue));
    taken->second.then.clear();
  }
  return overdue;
}

void Rebuilds::Run(const Rebuild& rebuild) {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    const UserId reader = waiting_.front();
    waiting_.pop_front();
    ++begun_ever_;
    metrics_.RebuildsWait(waiting_.size());
    const bool judged = taken_.at(reader).judged;
    const std::vector<Then> overdue = TakeOverdue();
    lock.unlock();
    for (const Then& then : overdue) then(true);
    rebuild(
        reader, judged ? Admit() : [this] {
          const std::lock_guard counting(mutex_);
          return StrangerFits();
        });
    lock.lock();
    const auto taken = taken_.extract(reader);
    const bool go_on = !stopping_;
    lock.unlock();
    for (const Then& then : taken.mapped().then) then(go_on);
    lock.lock();
  }
}

}  // namespace fanline::api
