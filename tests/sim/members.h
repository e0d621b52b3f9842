// Processes as consumers: partitions move between them while the old owner still works, a crash may
// come at any await, and one turn of a main loop is one step.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "fanline/consuming/consumer.h"
#include "tests/fakes/requests.h"
#include "tests/sim/world.h"

namespace fanline::sim {

// A process that asks: each call of a port is a message in the network.
struct Caller {
  explicit Caller(World& given) : world(given) {}

  World& world;
  uint64_t incarnation = 0;

  // Delivers a reply, unless the caller has been replaced by another process.
  template <typename R>
  std::function<void()> DeliverTo(uint64_t owner, ReplyTo<R> to, R reply) {
    return [this, owner, to, reply] {
      if (incarnation == owner) to(reply);
    };
  }

  // Whether a call to the shard fails. A process that still reaches the old server after a switch
  // reconnects.
  bool Away(Shard shard) {
    if (world.Away(shard)) return true;
    if (!world.primaries.LeadsAstray(incarnation, shard)) return false;
    world.Count(Letter::kLedAstray);
    world.primaries.Renew(incarnation, shard);
    return true;
  }

  // A call whose answer is `failed` if it times out.
  template <typename R, typename F>
  void Ask(ReplyTo<R> to, const char* name, R failed, F make, int patience = 0) {
    const uint64_t owner = incarnation;
    failed.status = AwayStatus();
    world.network.Send({name,
                        [this, owner, to, make]() mutable { return DeliverTo(owner, to, make()); },
                        DeliverTo(owner, to, failed), owner, false, patience});
  }

  // A call whose topic may refuse everything for a while. When the letter is appended, the record's
  // value is added to `taken`.
  void AskForLetter(const AppendDeadLetter& request, ReplyTo<DeadLetterAppended> to,
                    std::set<std::string>& taken) {
    const DeadLetterAppended done{request.id, {}};
    const auto take = [this, &taken, request, done] {
      if (world.now.unix_ms < world.dead_letters.away_until) {
        world.Count(Letter::kLetterRefused);
        return DeadLetterAppended{request.id, Status::Later("kafka", "too few replicas in sync")};
      }
      taken.insert(request.letter.record.value);
      return done;
    };
    Ask(to, "dead letter", done, take);
  }
};

// A process that consumes: an inbox, and the partitions that it believes to own.
template <typename Logic, typename Input>
struct Consumes {
  std::unique_ptr<Logic> logic;
  fakes::Inbox<Input> inbox;
  std::map<int32_t, int64_t> fetch;  // partition -> next offset; absent: not delivered
  std::set<int32_t> paused;
  std::set<int32_t> believes;
};

// The processes of one kind, and their group. A process P is a Caller and a Consumes, and makes its
// logic in Start().
template <typename P>
struct Members {
  World& world;
  const char* name;  // for traces
  std::vector<Assignment>& group;
  std::vector<std::unique_ptr<P>> processes{};

  size_t size() const { return processes.size(); }
  P& at(int index) { return *processes[static_cast<size_t>(index)]; }

  template <typename... With>
  P& Enter(With&... with) {
    processes.push_back(std::make_unique<P>(world, with...));
    Renew(*processes.back());
    return *processes.back();
  }

  // Replaces it by a new process that knows nothing.
  void Renew(P& process) {
    process.incarnation = ++world.incarnations;
    process.logic.reset();
    process.inbox.clear();
    process.fetch.clear();
    process.paused.clear();
    process.believes.clear();
  }

  // Gives a partition to process `to`; the old owner, if alive, finds out only later (zombie).
  void Move(int partition, int to) {
    Assignment& assignment = group[static_cast<size_t>(partition)];
    if (assignment.owner == to) return;
    assignment.owner = to;
    P& process = at(to);
    process.believes.insert(partition);
    process.fetch.erase(partition);
    process.inbox.emplace_back(Assigned(assignment, partition, assignment.committed));
  }
  void MoveToAny(int partition) { Move(partition, world.PickInt(size())); }
  void MoveAny() {
    const int to = world.PickInt(size());
    Move(world.PickInt(group.size()), to);
  }
  void MoveInTurn() {
    for (size_t i = 0; i < group.size(); ++i) Move(static_cast<int>(i), static_cast<int>(i % 2));
  }

  // A consumer is told the log's end only in schedules where logs lose their tails. Otherwise
  // owners that closely follow each other might write positions beyond the end they were told. That
  // would look like a loss, and its repair would hide faults.
  PartitionAssigned Assigned(const Assignment& assignment, int partition, int64_t start) const {
    const Guards& guards = world.options.guards;
    PartitionAssigned assigned{partition, start, assignment.low};
    if (!guards.lost_heads_told) assigned.low = 0;
    if (world.character.lose_tail > 0 && guards.lost_tails_told) assigned.end = assignment.end();
    return assigned;
  }

  void NoticeRevocations(int index) {
    P& process = at(index);
    for (auto on = process.believes.begin(); on != process.believes.end();) {
      if (group[static_cast<size_t>(*on)].owner == index) {
        ++on;
        continue;
      }
      process.inbox.emplace_back(PartitionRevoked{*on});
      process.fetch.erase(*on);
      process.paused.erase(*on);
      on = process.believes.erase(on);
    }
  }

  // An eager rebalance: all members lose all partitions at once, then the partitions are given out
  // again.
  void RevokeAll() {
    for (Assignment& assignment : group) assignment.owner = -1;
    for (size_t i = 0; i < size(); ++i) NoticeRevocations(static_cast<int>(i));
    for (size_t i = 0; i < group.size(); ++i) MoveToAny(static_cast<int>(i));
  }

  void CrashAny() { Crash(AnyOne()); }
  void Crash(int index) {
    TellCrash(index);
    Die(index);
    at(index).Start();
    GiveAway(index);
  }
  int AnyOne() const { return world.PickInt(size()); }
  void TellCrash(int index) {
    world.Trace(std::string("crash of ") + name + " " + std::to_string(index));
    ++world.counts.crashes;
  }
  void Die(int index) {
    world.network.Orphan(at(index).incarnation);
    Renew(at(index));
  }
  // Gives its partitions to random members, or back to the restarted one.
  void GiveAway(int index) {
    for (size_t i = 0; i < group.size(); ++i) {
      if (group[i].owner != index) continue;
      group[i].owner = -1;
      Move(static_cast<int>(i), world.faults ? world.PickInt(size()) : index);
    }
  }

  // If the log does not hold a consumer's position, the partition is revoked and assigned again
  // with the log's present bounds. If the position is beyond the end, it stays the start. A zombie
  // only stops.
  void RetryLostPositions(int index) {
    P& process = at(index);
    for (auto on = process.fetch.begin(); on != process.fetch.end();) {
      const auto [partition, next] = *on;
      const Assignment& assignment = group[static_cast<size_t>(partition)];
      const bool headless = next < assignment.low && world.options.guards.lost_heads_told;
      const bool beyond = next > assignment.end() && world.options.guards.lost_tails_told;
      if (!headless && !beyond) {
        on->second = std::max(next, assignment.low);
        ++on;
        continue;
      }
      const int64_t start = beyond ? next : assignment.committed;
      on = process.fetch.erase(on);
      if (assignment.owner != index) continue;
      process.paused.erase(partition);
      process.inbox.emplace_back(PartitionRevoked{partition});
      process.inbox.emplace_back(Assigned(assignment, partition, start));
    }
  }

  // A fetch beyond the end fails at once. If the log has grown again, the brokers still fail it,
  // because they know which leader the consumer read from.
  void NoticeCut(const Log& cut) {
    for (size_t i = 0; i < size(); ++i) {
      AssignAgain(static_cast<int>(i), cut);
      RetryLostPositions(static_cast<int>(i));
    }
  }
  // Assigns the partition again if the log was cut after its owner was told the end and before the
  // owner acted on it.
  void AssignAgain(int index, const Log& cut) {
    P& process = at(index);
    for (size_t i = 0; i < group.size(); ++i) {
      const auto partition = static_cast<int32_t>(i);
      const Assignment& assignment = group[i];
      if (assignment.log != &cut || assignment.owner != index) continue;
      if (process.fetch.contains(partition) || assignment.committed <= assignment.end()) continue;
      process.inbox.emplace_back(PartitionRevoked{partition});
      process.inbox.emplace_back(Assigned(assignment, partition, assignment.committed));
    }
  }

  // One turn of a process's main loop: poll, Step, carry out the orders.
  void Turn(size_t which, bool notice) {
    const int index = static_cast<int>(which);
    if (notice) NoticeRevocations(index);
    P& process = at(index);
    using Input = typename std::decay_t<decltype(process.inbox)>::value_type;
    std::vector<Input> inputs = std::move(process.inbox);
    process.inbox.clear();
    RetryLostPositions(index);
    for (auto& [partition, next] : process.fetch) {
      if (process.paused.contains(partition)) continue;
      const Log& log = *group[static_cast<size_t>(partition)].log;
      for (uint64_t budget = 1 + world.Pick(4);
           budget > 0 && next < static_cast<int64_t>(log.size()); --budget, ++next) {
        const Record& record = log[static_cast<size_t>(next)];
        if constexpr (requires { process.Fetched(record); }) {
          inputs.emplace_back(process.Fetched(record));
        } else if constexpr (std::is_constructible_v<Input, Record>) {
          inputs.emplace_back(record);
        }
      }
    }
    const auto progress = process.logic->Step(inputs, world.now);
    for (const auto& seek : progress.orders.seek) {
      process.fetch[seek.partition] = seek.offset;
      process.paused.erase(seek.partition);
    }
    for (int32_t partition : progress.orders.pause) process.paused.insert(partition);
    for (int32_t partition : progress.orders.resume) process.paused.erase(partition);
    for (const auto& commit : progress.orders.commit) {
      Assignment& assignment = group[static_cast<size_t>(commit.partition)];
      if (assignment.owner != index) continue;  // the broker refuses a zombie's commit
      assignment.committed = commit.offset;
      world.GrowAgain(assignment.log);
    }
  }
  void TurnOfAll() {
    for (size_t i = 0; i < size(); ++i) Turn(i, true);
  }
};

}  // namespace fanline::sim
