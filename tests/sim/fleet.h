// The whole fleet in one process, on fakes, driven by one seed: two dispatchers, two pushers, two
// mirror appliers, readers that rebuild, clients that publish and follow; and everything that can
// go wrong between them. The programs' real logic runs; only time, network and stores are made up.
//
// A call of a port becomes a message in the network. The schedule picks, at random, which message
// is carried out next, whose reply is delivered, which process runs, and which fault strikes:
// crash at any await, a call that times out and is carried out much later or never, a partition
// moved while its old owner goes on (zombie), Redis rolled back to a snapshot or flushed, keys
// expiring, the mirror lagging, hints emitted late and twice.
//
// Then faults stop, everything under way ends, and every live timeline is compared with what the
// clients did; and so on, several times over in one schedule.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/fakes/fake_mysql.h"
#include "tests/fakes/fake_redis.h"

namespace fanline::sim {

// The guards of the design, each of which can be taken away: the run must then fail.
struct Guards {
  fakes::RedisRules redis;
  fakes::MysqlRules mysql;
  bool truth_after_hint = true;       // off: a post's state is read once and believed for ever
  bool lanes_in_order = true;         // off: what stands behind a lane's head is sent before it
  bool hints_before_commit = true;    // off: hints count as acknowledged when they are sent
  bool writes_before_commit = true;   // off: writes to Redis count as acknowledged when sent
  bool claim_after_reconnect = true;  // off: a new connection goes on as if nothing had happened
  bool hint_after_truth = true;       // off: a follow's hint is appended before its rows
};

struct FleetOptions {
  uint64_t seed = 1;
  Guards guards;
  int steps = 400;     // of each phase
  bool trace = false;  // print every action
};

class Fleet {
 public:
  explicit Fleet(FleetOptions options);
  ~Fleet();

  // Runs the schedule, lets everything come to rest, and says what is wrong: empty = nothing.
  std::string Run();

  struct Counts {  // what the schedule did, so that a test can see that it does all of it
    uint64_t published = 0, deleted = 0, hidden = 0, edited = 0, follows = 0, unfollows = 0;
    uint64_t crashes = 0, timeouts = 0, late_writes = 0, zombies = 0, rollbacks = 0, flushes = 0;
    uint64_t expiries = 0, rebuilds = 0, checked_timelines = 0, checked_items = 0;
    uint64_t trimmed = 0, quarantined = 0;
  };
  const Counts& counts() const;

 private:
  struct World;
  std::unique_ptr<World> world_;
};

}  // namespace fanline::sim
