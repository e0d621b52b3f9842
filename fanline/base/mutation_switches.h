// Guards of the logic that a mutation check takes away, to see that the schedules then go wrong
// (tests/sim/mutation_test.cpp, tests/unit/reconciler/pair_mutation_test.cpp). Only these checks
// hand any in: everywhere else all guards are on.
#pragma once

namespace fanline {

struct MutationSwitches {
  bool lanes_in_order = true;         // off: what stands behind a lane's head is taken beside it
  bool commit_lowest_pending = true;  // off: the position is committed
  bool fire_caught_up = true;         // off: a deadline alone makes a check
  bool remember_early = true;         // off: a msg2 without its msg1 is forgotten
  bool release_acknowledged = true;   // off: a retry counts as written when it is sent
};

}  // namespace fanline
