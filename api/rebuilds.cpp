#include "api/rebuilds.h"

#include <set>
#include <utility>

#include "fanline/ports/reader_ports.h"

namespace fanline::api {
namespace {

constexpr Duration kLooks = std::chrono::milliseconds(100);

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

bool Rebuilds::Offer(UserId reader, bool known, std::optional<Shard> slow) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto taken = taken_.find(reader); taken != taken_.end()) {
      taken->second.judged |= known;  // so it is rebuilt though nobody awaits it any more
      return true;
    }
    const size_t most = slow ? limits_.waiting / 2 : limits_.waiting;
    if (waiting_ >= most || (!known && !StrangerFits())) return false;
    Add(reader, {.queue = slow.value_or(map_.ShardOf(reader))});
  }
  StartWhatMayStart();
  return true;
}

bool Rebuilds::HasBacklog(UserId reader) {
  const std::lock_guard lock(mutex_);
  return queues_[map_.ShardOf(reader)].waiting.size() * queues_.size() >=
         kBacklog * limits_.at_once;
}

bool Rebuilds::Await(UserId reader, Alive alive, Then then) {
  Wait wait{std::move(alive), std::move(then)};
  {
    const std::lock_guard lock(mutex_);
    const auto taken = taken_.find(reader);
    if (stopping_ || pages_ >= limits_.pages) return false;
    if (taken == taken_.end()) {
      if (waiting_ >= limits_.waiting) return false;
      Add(reader, {.queue = map_.ShardOf(reader), .judged = false, .waits = {std::move(wait)}});
    } else {
      taken->second.waits.push_back(std::move(wait));
    }
    ++pages_;
    AwaitFor(reader, taken_.at(reader).number, 1);
  }
  StartWhatMayStart();
  return true;
}

void Rebuilds::AwaitFor(UserId reader, uint64_t number, int turn) {
  awaited_.push_back({reader, number, turn, clock_() + limits_.longest_wait,
                      queues_[taken_.at(reader).queue].begun_ever});
}

void Rebuilds::Add(UserId reader, Taken taken) {
  taken.number = taken_ever_++;
  taken.since = clock_();
  queues_[taken.queue].waiting.push_back(reader);
  taken_.emplace(reader, std::move(taken));
  metrics_.RebuildsWait(++waiting_);
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
    const Queue& queue = queues_[taken->second.queue];
    const bool moves = queue.waiting.size() <= kTurns * (queue.begun_ever - wait.begun);
    if (taken->second.begun || (moves && wait.turn < kTurns)) {
      AwaitFor(wait.reader, wait.number, wait.turn + 1);
      continue;
    }
    pages_ -= taken->second.waits.size();
    for (Wait& each : std::exchange(taken->second.waits, {})) {
      overdue.push_back(std::move(each.then));
    }
  }
  return overdue;
}

// Else their connections would be taken as long as the queue stands still.
void Rebuilds::TakeLeft(std::vector<Then>& left) {
  const Time now = clock_();
  if (awaited_.empty() || (!stopping_ && now < look_again_)) return;
  look_again_ = now + kLooks;
  std::set<UserId> given_up;
  for (auto& [reader, taken] : taken_) {
    const size_t ended = std::erase_if(taken.waits, [&](Wait& wait) {
      if (!stopping_ && !Turn{.alive = wait.alive}.Dead()) return false;
      left.push_back(std::move(wait.then));
      return true;
    });
    pages_ -= ended;
    const bool wanted = taken.judged || taken.begun || !taken.waits.empty();
    if (ended > 0 && !wanted) given_up.insert(reader);
  }
  if (given_up.empty()) return;
  for (const UserId reader : given_up) taken_.erase(reader);
  for (Queue& queue : queues_) {
    waiting_ -= std::erase_if(queue.waiting, [&](UserId each) { return given_up.contains(each); });
  }
  metrics_.RebuildsWait(waiting_);
}

void Rebuilds::Step() {
  std::unique_lock lock(mutex_);
  std::vector<Then> ended = TakeOverdue();
  TakeLeft(ended);
  lock.unlock();
  for (const Then& then : ended) then();
}

void Rebuilds::Stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
}

// The next queue of which one more may be under way.
Rebuilds::Queue* Rebuilds::NextQueue() {
  if (under_way_ >= limits_.at_once) return nullptr;
  const size_t most = queues_.size() == 1 ? limits_.at_once : (limits_.at_once + 1) / 2;
  for (size_t i = 0; i < queues_.size(); ++i) {
    Queue& queue = queues_[next_++ % queues_.size()];
    if (!queue.waiting.empty() && queue.under_way < most) return &queue;
  }
  return nullptr;
}

UserId Rebuilds::TakeNext(Queue& queue) {
  const Time oldest = taken_.at(queue.waiting.front()).since;
  const bool newest_first = clock_() - oldest > limits_.newest_first_after;
  const UserId next = newest_first ? queue.waiting.back() : queue.waiting.front();
  newest_first ? queue.waiting.pop_back() : queue.waiting.pop_front();
  return next;
}

// A rebuild may end within its beginning, on this thread, so the loop is not entered twice.
void Rebuilds::StartWhatMayStart() {
  std::unique_lock lock(mutex_);
  if (std::exchange(starting_, true)) return;
  while (Queue* queue = NextQueue()) {
    const UserId reader = TakeNext(*queue);
    taken_.at(reader).begun = true;
    ++queue->under_way;
    ++queue->begun_ever;
    ++under_way_;
    metrics_.RebuildsWait(--waiting_);
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
  const auto taken = taken_.extract(reader);
  --queues_[taken.mapped().queue].under_way;
  --under_way_;
  pages_ -= taken.mapped().waits.size();
  lock.unlock();
  for (const Wait& wait : taken.mapped().waits) wait.then();
  StartWhatMayStart();
}

}  // namespace fanline::api
