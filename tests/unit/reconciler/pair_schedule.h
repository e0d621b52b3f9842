// A random run of the pair world, as a list of actions: drawn from a seed, played, and shrunk when
// it goes wrong. An action taken out leaves a run, so a long schedule that fails can be cut down to
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

// Each schedule has a character of its own: some faults, some bounds, or none of them.
Schedule Draw(uint64_t seed);

// Plays the actions, lets the world come to rest, and says what went wrong: empty = nothing.
std::string Play(const Schedule& schedule, const Guards& guards, PairWorld::Counts* counts);

// The same schedule with only the actions that it needs to go wrong.
Schedule Shrink(Schedule schedule, const Guards& guards);

// A line per action.
std::string Describe(const Schedule& schedule);

}  // namespace fanline::reconciler
