// The whole fleet in one process, on fakes, driven by one seed: two dispatchers, two pushers, two
// mirrors, two reconcilers, two consumers of relation events, readers that rebuild and walk from
// page to page, clients that publish, follow and become friends; and everything that can go wrong
// between them. The programs' real logic runs; only time, network and stores are simulated.
//
// A call of a port becomes a message in the network. The schedule picks at random which message is
// carried out next, whose reply is delivered, which process runs, and which fault strikes: a crash
// at any await, a call that times out and is carried out much later or never, a partition moved
// while its old owner goes on (zombie), Redis rolled back to a snapshot or flushed, keys expiring,
// the mirror lagging, forgetting edges, losing and repeating messages, a shard away; and the
// letters of fleet_options.h. In part of the schedules a dispatcher leaves out the ranges that hold
// no follower of the author, and graphs are imported; or Redis is two nodes, with slots that move.
// A few schedules, each drawn separately (odd.h), have hints that a pusher cannot read or knows
// only once it is upgraded; dead letter topics that take nothing; committed offsets that go back; a
// primary that is demoted, or replaced by one that lacks the last posts.
// Then faults stop and everything under way ends. Every live timeline, every edge and every counter
// is compared with what the clients did. Everybody posts once more, which reveals a stuck lane or a
// range that stays paused, and all is compared again. A schedule does all this several times.
//
// What all share is in world.h, which holds stores, logs and network, and draws by chance.h; where
// ranges lie is in slots.h. On it work the programs' processes (members.h: spine.h, redis_calls.h,
// mirrors.h, reconcilers.h, relation_event_consumers.h; together programs.h), those who use the
// fleet (clients.h, friends.h, readers.h, walks.h, page_reads.h), faults.h, rare_faults.h,
// odd_faults.h and checks.h; schedule.h drives them all.
#pragma once

#include <memory>
#include <string>

#include "tests/sim/character.h"
#include "tests/sim/fleet_options.h"

namespace fanline::sim {

struct Schedule;

class Fleet {
 public:
  explicit Fleet(FleetOptions options);
  ~Fleet();

  // Runs the schedule, lets everything come to rest, and returns what is wrong, or empty.
  std::string Run();

  using Counts = FleetCounts;
  const Counts& counts() const;
  const Character& character() const;

 private:
  std::unique_ptr<Schedule> schedule_;
};

}  // namespace fanline::sim
