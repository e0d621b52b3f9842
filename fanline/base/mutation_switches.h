// Guards of the logic that a mutation check switches off, to see that schedules then go wrong
// (tests/sim/mutation_test.cpp, tests/unit/reconciler/pair_mutation_test.cpp). Only those checks
// hand in switches; everywhere else all guards are on.
#pragma once

namespace fanline {

struct MutationSwitches {
  bool lanes_in_order = true;         // off: hints behind a lane's head are taken beside it
  bool pages_acknowledged = true;     // off: a page counts as written once it is read
  bool begun_as_saved = true;         // off: a takeover goes on with pages that pos: does not name
  bool newer_awaited = true;          // off: a hint of a newer program is quarantined
  bool commit_lowest_pending = true;  // off: everything read is committed
  bool fire_caught_up = true;         // off: a pair's deadline alone causes its check
  bool remember_early = true;         // off: a msg2 without its msg1 is forgotten
  bool release_acknowledged = true;   // off: a retry counts as written when it is sent
};

}  // namespace fanline
