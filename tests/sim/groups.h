// Processes as consumers: partitions that move between them while the old owner goes on, crashes at
// any await, and one turn of a main loop.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <type_traits>
#include <vector>

#include "fanline/consuming/consumer.h"
#include "tests/fakes/requests.h"
#include "tests/sim/stores.h"

namespace fanline::sim {

struct Groups : Stores {
  using Stores::Stores;

  // What all kinds share: an inbox, and the partitions the process believes to own.
  template <typename Logic, typename Input>
  struct Process {
    uint64_t incarnation = 0;
    std::unique_ptr<Logic> logic;
    fakes::Inbox<Input> inbox;
    std::map<int32_t, int64_t> fetch;  // partition -> next offset; absent: not delivered
    std::set<int32_t> paused;
    std::set<int32_t> believes;
  };

  // Makes it another process, which knows nothing.
  template <typename P>
  void Renew(P& process) {
    process.incarnation = ++incarnations;
    process.inbox.clear();
    process.fetch.clear();
    process.paused.clear();
    process.believes.clear();
  }

  // Sends a reply home, unless the caller is another process by now.
  template <typename P, typename R>
  std::function<void()> DeliverTo(P& process, uint64_t owner, ReplyTo<R> to, R reply) {
    return [&process, owner, to, reply] {
      if (process.incarnation == owner) to(reply);
    };
  }

  // A call that cannot fail.
  template <typename P, typename R>
  void Answer(P& process, ReplyTo<R> to, const char* name, R reply) {
    const auto deliver = DeliverTo(process, process.incarnation, to, std::move(reply));
    network.Send({name, [deliver] { return deliver; }, {}, process.incarnation, false});
  }

  // A call that answers `failed` when it times out.
  template <typename P, typename R, typename F>
  void Ask(P& process, ReplyTo<R> to, const char* name, R failed, F make, int patience = 0) {
    const uint64_t owner = process.incarnation;
    failed.status = AwayStatus();
    network.Send({name,
                  [this, &process, owner, to, make]() mutable {
                    return DeliverTo(process, owner, to, make());
                  },
                  DeliverTo(process, owner, to, failed), owner, false, patience});
  }

  // Gives a partition to process `to`; the old owner, if alive, finds out only later (zombie).
  template <typename P>
  void Move(std::vector<Assignment>& group, std::vector<std::unique_ptr<P>>& members, int partition,
            int to) {
    Hand(group[static_cast<size_t>(partition)], *members[static_cast<size_t>(to)], partition, to);
  }

  template <typename P>
  void Hand(Assignment& assignment, P& process, int partition, int to) {
    if (assignment.owner == to) return;
    assignment.owner = to;
    process.believes.insert(partition);
    process.fetch.erase(partition);
    process.inbox.emplace_back(Assigned(assignment, partition, assignment.committed));
  }

  // In schedules where no log loses its tail, its end is not told. Owners that follow each other
  // closely may write positions beyond it, which looks like a loss and sets much right.
  PartitionAssigned Assigned(const Assignment& assignment, int partition, int64_t start) const {
    PartitionAssigned assigned{partition, start, assignment.low};
    if (!options.guards.lost_heads_told) assigned.low = 0;
    if (character.lose_tail > 0 && options.guards.lost_tails_told) assigned.end = assignment.end();
    return assigned;
  }

  template <typename P>
  void NoticeRevocations(std::vector<Assignment>& group, P& process, int index) {
    for (auto at = process.believes.begin(); at != process.believes.end();) {
      if (group[static_cast<size_t>(*at)].owner == index) {
        ++at;
        continue;
      }
      process.inbox.emplace_back(PartitionRevoked{*at});
      process.fetch.erase(*at);
      process.paused.erase(*at);
      at = process.believes.erase(at);
    }
  }

  // An eager rebalance: all members lose all partitions at once, then these are given out anew.
  template <typename P>
  void RevokeAll(std::vector<Assignment>& group, std::vector<std::unique_ptr<P>>& members) {
    for (Assignment& assignment : group) assignment.owner = -1;
    for (size_t i = 0; i < members.size(); ++i) {
      NoticeRevocations(group, *members[i], static_cast<int>(i));
    }
    for (size_t partition = 0; partition < group.size(); ++partition) {
      Move(group, members, static_cast<int>(partition), static_cast<int>(Pick(members.size())));
    }
  }

  template <typename P, typename Starter>
  void Crash(std::vector<Assignment>& group, std::vector<std::unique_ptr<P>>& members, int index,
             Starter start) {
    P& process = *members[static_cast<size_t>(index)];
    network.Orphan(process.incarnation);
    process.logic.reset();
    start(process);
    // What it owned goes to a random member, or comes back to the restarted one.
    for (size_t partition = 0; partition < group.size(); ++partition) {
      if (group[partition].owner != index) continue;
      group[partition].owner = -1;
      Move(group, members, static_cast<int>(partition),
           faults ? static_cast<int>(Pick(members.size())) : index);
    }
  }

  // When the log does not hold a consumer's position, its partition is revoked and assigned again,
  // with what the log holds by then; if the position is beyond the end, from there. A zombie only
  // stops.
  template <typename P>
  void RetryLostPositions(const std::vector<Assignment>& group, P& process, int index) {
    for (auto at = process.fetch.begin(); at != process.fetch.end();) {
      const auto [partition, next] = *at;
      const Assignment& assignment = group[static_cast<size_t>(partition)];
      const bool headless = next < assignment.low && options.guards.lost_heads_told;
      const bool beyond = next > assignment.end() && options.guards.lost_tails_told;
      if (!headless && !beyond) {
        at->second = std::max(next, assignment.low);
        ++at;
        continue;
      }
      const int64_t start = beyond ? next : assignment.committed;
      at = process.fetch.erase(at);
      if (assignment.owner != index) continue;
      process.paused.erase(partition);
      process.inbox.emplace_back(PartitionRevoked{partition});
      process.inbox.emplace_back(Assigned(assignment, partition, start));
    }
  }

  // Assigns again if the log was cut after its owner was told the end and before it acted on it.
  template <typename P>
  void AssignAgain(const std::vector<Assignment>& group, P& process, int index, const Log& cut) {
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
  template <typename P>
  void Turn(std::vector<Assignment>& group, const std::vector<Log>& topic, P& process, int index) {
    using Input = typename std::decay_t<decltype(process.inbox)>::value_type;
    std::vector<Input> inputs = std::move(process.inbox);
    process.inbox.clear();
    RetryLostPositions(group, process, index);
    for (auto& [partition, next] : process.fetch) {
      if (process.paused.contains(partition)) continue;
      const Log& log = topic[static_cast<size_t>(partition)];
      for (uint64_t budget = 1 + Pick(4); budget > 0 && next < static_cast<int64_t>(log.size());
           --budget, ++next) {
        inputs.emplace_back(log[static_cast<size_t>(next)]);
      }
    }
    const auto progress = process.logic->Step(inputs, now);
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
      GrowAgain(assignment.log);
    }
  }
};

}  // namespace fanline::sim
