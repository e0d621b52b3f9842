// A random run of the pair world, as a list of actions. It is drawn from a seed and played. A list
// without some of its actions is still a run, so a long schedule that goes wrong can be shrunk to
// the few actions that matter.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/reconciler/pair_world.h"

namespace fanline::reconciler {

struct Action {
  enum class Kind : uint8_t {
    kWrite,
    kRelay,
    kApply,
    kAnswer,
    kPass,
    kConsume,
    kTellWatermark,
    kRunCheck,
    kRunRetry,
    kConsumeRetry,
    kRestart,
    kMove,
    kLag,
    kRest,
  } kind = Kind::kWrite;
  uint32_t which = 0;
  uint32_t fate = 0;
};

struct Schedule {
  Faults faults;
  Limits limits;
  std::vector<Action> actions;
};

// Each schedule has its own character: some faults, some limits, or neither.
Schedule Draw(uint64_t seed);

// Plays the actions, lets the world come to rest, and returns what went wrong, or empty.
std::string Play(const Schedule& schedule, const Guards& guards, PairWorld::Counts* counts);

// The same schedule reduced to the actions that it needs to go wrong.
Schedule Shrink(Schedule schedule, const Guards& guards);

// A line per action.
std::string Describe(const Schedule& schedule);

}  // namespace fanline::reconciler
