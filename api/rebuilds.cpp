#include "api/rebuilds.h"

#include <utility>

#include "fanline/ports/reader_ports.h"

namespace fanline::api {

namespace {

using Run = std::shared_ptr<timeline::Rebuild>;

constexpr Asking kAsking{.work = Work::kRebuilds};

void AskAll(const Run& run, const timeline::Rebuild::Requests& requests, Exchange& stores) {
  if (run->done()) return stores.Answer(Response(), run->status());
  for (const auto& request : requests) {
    std::visit(
        [&](const auto& each) {
          stores.Ask(each, kAsking, [run, &stores](auto& reply) {
            AskAll(run, run->On(std::move(reply)), stores);
          });
        },
        request);
  }
}

}  // namespace

Rebuilds::Begin Rebuilds::By(Exchanges& exchanges, const ShardMap& map,
                             timeline::RebuildRules rules, Metrics& metrics) {
  return [&exchanges, &map, rules = std::move(rules), &metrics](
             UserId reader, Admit admit, const std::function<void()>& ended) {
    const auto run = std::make_shared<timeline::Rebuild>(reader, rules, map, std::move(admit));
    exchanges.Begin([&run](Exchange& stores) { AskAll(run, run->Begin(), stores); }, kAsking, {},
                    [run, ended, &metrics](const Response&, const Status& failed) {
                      failed.done() ? metrics.RebuildEnded(run->result())
                                    : metrics.RebuildFailed(failed.resource, failed.message);
                      ended();
                    });
  };
}

bool Rebuilds::Offer(UserId reader, bool known) {
  {
    const std::lock_guard lock(mutex_);
    if (taken_.contains(reader)) return true;
    if (waiting_.size() >= limits_.waiting || (!known && !StrangerFits())) return false;
    Add(reader, {});
  }
  StartWhatMayStart();
  return true;
}

bool Rebuilds::HasBacklog() {
  const std::lock_guard lock(mutex_);
  return waiting_.size() >= kBacklog * limits_.at_once;
}

bool Rebuilds::Await(UserId reader, Alive alive, Then then) {
  {
    const std::lock_guard lock(mutex_);
    const auto taken = taken_.find(reader);
    if (taken == taken_.end()) {
      if (waiting_.size() >= limits_.waiting) return false;
      Add(reader, {.judged = false, .waits = {{std::move(alive), std::move(then)}}});
    } else {
      taken->second.waits.push_back({std::move(alive), std::move(then)});
    }
    AwaitFor(reader, taken_.at(reader).number);
  }
  StartWhatMayStart();
  return true;
}

void Rebuilds::AwaitFor(UserId reader, uint64_t number) {
  awaited_.push_back({reader, number, clock_() + limits_.longest_wait, begun_ever_});
}

void Rebuilds::Add(UserId reader, Taken taken) {
  taken.number = taken_ever_++;
  taken.since = clock_();
  taken_.emplace(reader, std::move(taken));
  waiting_.push_back(reader);
  metrics_.RebuildsWait(waiting_.size());
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
    for (Wait& each : taken->second.waits) overdue.push_back(std::move(each.then));
    taken->second.waits.clear();
  }
  return overdue;
}

// A reader whom nobody offered, and for whom nobody waits any more, leaves the queue.
std::vector<Rebuilds::Then> Rebuilds::TakeLeft() {
  std::vector<Then> left;
  bool given_up = false;
  for (auto at = taken_.begin(); at != taken_.end();) {
    Taken& taken = at->second;
    const size_t before = left.size();
    std::erase_if(taken.waits, [&left](Wait& each) {
      const bool gone = Turn{.alive = each.alive}.Dead();
      if (gone) left.push_back(std::move(each.then));
      return gone;
    });
    const bool wanted = taken.judged || taken.begun || !taken.waits.empty();
    if (wanted || left.size() == before) {
      ++at;
    } else {
      at = taken_.erase(at);
      ++begun_ever_;
      given_up = true;
    }
  }
  if (given_up) {
    std::erase_if(waiting_, [this](UserId reader) { return !taken_.contains(reader); });
    metrics_.RebuildsWait(waiting_.size());
  }
  return left;
}

void Rebuilds::Step() {
  std::unique_lock lock(mutex_);
  const std::vector<Then> overdue = TakeOverdue();
  const std::vector<Then> left = TakeLeft();
  lock.unlock();
  for (const auto& ended : {overdue, left}) {
    for (const Then& then : ended) then();
  }
}

UserId Rebuilds::TakeNext() {
  const Time oldest = taken_.at(waiting_.front()).since;
  const bool newest_first = clock_() - oldest > limits_.newest_first_after;
  const UserId next = newest_first ? waiting_.back() : waiting_.front();
  newest_first ? waiting_.pop_back() : waiting_.pop_front();
  return next;
}

// A rebuild may end within its beginning, on this thread, so the loop is not entered twice.
void Rebuilds::StartWhatMayStart() {
  std::unique_lock lock(mutex_);
  if (std::exchange(starting_, true)) return;
  while (under_way_ < limits_.at_once && !waiting_.empty()) {
    const UserId reader = TakeNext();
    taken_.at(reader).begun = true;
    ++under_way_;
    ++begun_ever_;
    metrics_.RebuildsWait(waiting_.size());
    const bool judged = taken_.at(reader).judged;
    const std::vector<Then> overdue = TakeOverdue();
    lock.unlock();
    for (const Then& then : overdue) then();
    const Admit admit = [this] {
      const std::lock_guard counting(mutex_);
      return StrangerFits();
    };
    begin_(reader, judged ? Admit() : admit, [this, reader] { Ended(reader); });
    lock.lock();
  }
  starting_ = false;
}

void Rebuilds::Ended(UserId reader) {
  std::unique_lock lock(mutex_);
  --under_way_;
  const auto taken = taken_.extract(reader);
  lock.unlock();
  for (const Wait& each : taken.mapped().waits) each.then();
  StartWhatMayStart();
}

}  // namespace fanline::api
