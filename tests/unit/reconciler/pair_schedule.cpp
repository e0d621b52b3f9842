#include "tests/unit/reconciler/pair_schedule.h"

#include <algorithm>
#include <random>

namespace fanline::reconciler {
namespace {

using Kind = Action::Kind;

struct Weighted {
  Kind kind;
  const char* name;
  uint32_t weight;
  uint32_t most;  // `which` is below
};

constexpr Weighted kAlphabet[] = {
    {Kind::kWrite, "Write", 6, 4},
    {Kind::kRelay, "Relay", 12, 8},
    {Kind::kApply, "Apply", 12, 8},
    {Kind::kAnswer, "Answer", 12, 8},
    {Kind::kPass, "Pass", 14, 5'000},
    {Kind::kConsume, "Consume", 14, 2},
    {Kind::kTellWatermark, "TellWatermark", 8, 4},
    {Kind::kRunCheck, "RunCheck", 8, 4},
    {Kind::kRunRetry, "RunRetry", 4, 4},
    {Kind::kConsumeRetry, "ConsumeRetry", 2, 4},
    {Kind::kRestart, "Restart", 2, 2},
    {Kind::kMove, "Move", 2, 2},
    {Kind::kLag, "Lag", 2, 10'000},
    {Kind::kRest, "Rest", 1, 1},
};

// Every letter as often as its weight in this schedule.
std::vector<const Weighted*> DrawUrn(std::mt19937_64& random) {
  std::vector<const Weighted*> urn;
  for (const Weighted& letter : kAlphabet) {
    urn.insert(urn.end(), size_t{letter.weight} << random() % 3, &letter);
  }
  return urn;
}

void Do(const Action& action, PairWorld& world) {
  switch (action.kind) {
    case Kind::kWrite:
      return world.Write(action.which);
    case Kind::kRelay:
      return world.Relay(action.which, action.fate);
    case Kind::kApply:
      return world.Apply(action.which, action.fate);
    case Kind::kAnswer:
      return world.Answer(action.which, action.fate);
    case Kind::kPass:
      return world.Pass(action.which);
    case Kind::kConsume:
      return world.Consume(action.which, 1 + action.fate % 8);
    case Kind::kTellWatermark:
      return world.TellWatermark(action.which, action.fate);
    case Kind::kRunCheck:
      return world.RunCheck(action.which, action.fate);
    case Kind::kRunRetry:
      return world.RunRetry(action.which, action.fate);
    case Kind::kConsumeRetry:
      return world.ConsumeRetry(action.which, action.fate);
    case Kind::kRestart:
      return world.Restart(action.which);
    case Kind::kMove:
      return world.Move(action.which);
    case Kind::kLag:
      return world.Lag(action.which);
    case Kind::kRest:
      return world.Rest();
  }
}

Faults DrawFaults(std::mt19937_64& random) {
  Faults faults;
  if (random() % 4 == 0) return faults;
  for (bool* fault :
       {&faults.lose_applies, &faults.lose_hints, &faults.lose_msg2s, &faults.fail_checks,
        &faults.fail_retries, &faults.restart, &faults.lag, &faults.late}) {
    *fault = random() % 3 == 0;
  }
  return faults;
}

// In a healthy run no bound is met.
Limits DrawLimits(const Faults& faults, std::mt19937_64& random) {
  Limits limits;
  limits.commit_every = std::chrono::milliseconds(random() % 2 * 1'000);
  limits.remember = std::chrono::minutes(10);
  if (faults.healthy()) return limits;
  limits.remember = std::chrono::seconds(1 + random() % 60);
  random.discard(1);  // or the pinned seeds would draw other schedules
  limits.checks_before_retry = 1 + static_cast<uint32_t>(random() % 3);
  const auto tight = [&](uint32_t* limit) {
    if (random() % 3 == 0) *limit = 1 + static_cast<uint32_t>(random() % 3);
  };
  tight(&limits.pending);
  tight(&limits.remembered);
  tight(&limits.checks_in_flight);
  tight(&limits.retries_in_flight);
  return limits;
}

}  // namespace

Schedule Draw(uint64_t seed) {
  std::mt19937_64 random(seed);
  Schedule schedule;
  schedule.faults = DrawFaults(random);
  schedule.limits = DrawLimits(schedule.faults, random);
  const std::vector<const Weighted*> urn = DrawUrn(random);
  for (uint64_t left = 10 + random() % 390; left > 0; --left) {
    const Weighted& letter = *urn[random() % urn.size()];
    uint32_t which = static_cast<uint32_t>(random() % letter.most);
    // Long waits and short ones.
    if (letter.kind == Kind::kPass) which >>= random() % 10;
    schedule.actions.push_back({letter.kind, which, static_cast<uint32_t>(random() % 24)});
  }
  return schedule;
}

std::string Play(const Schedule& schedule, const Guards& guards, PairWorld::Counts* counts) {
  PairWorld world(schedule.faults, schedule.limits, guards);
  for (const Action& action : schedule.actions) {
    Do(action, world);
    if (!world.wrong().empty()) break;
  }
  if (world.wrong().empty()) world.Rest();
  if (counts != nullptr) *counts = world.counts();
  return world.wrong();
}

// Takes out runs of actions, first long ones, while the schedule still goes wrong; ends when it
// needs every single action.
Schedule Shrink(Schedule schedule, const Guards& guards) {
  size_t length = std::max<size_t>(1, schedule.actions.size() / 2);
  while (true) {
    bool shorter = false;
    for (size_t begin = 0; begin < schedule.actions.size();) {
      Schedule without = schedule;
      const auto first = without.actions.begin() + static_cast<std::ptrdiff_t>(begin);
      const size_t count = std::min(length, without.actions.size() - begin);
      without.actions.erase(first, first + static_cast<std::ptrdiff_t>(count));
      if (Play(without, guards, nullptr).empty()) {
        begin += length;
      } else {
        schedule = std::move(without);
        shorter = true;
      }
    }
    if (length > 1) {
      length /= 2;
    } else if (!shorter) {
      return schedule;
    }
  }
}

std::string Describe(const Schedule& schedule) {
  const Faults& faults = schedule.faults;
  std::string text = "faults:";
  for (const auto& [on, name] :
       std::initializer_list<std::pair<bool, const char*>>{{faults.lose_applies, " lose_applies"},
                                                           {faults.lose_hints, " lose_hints"},
                                                           {faults.lose_msg2s, " lose_msg2s"},
                                                           {faults.fail_checks, " fail_checks"},
                                                           {faults.fail_retries, " fail_retries"},
                                                           {faults.restart, " restart"},
                                                           {faults.lag, " lag"},
                                                           {faults.late, " late"}}) {
    if (on) text += name;
  }
  text += faults.healthy() ? " none\n" : "\n";
  for (const Action& action : schedule.actions) {
    text += std::string("  ") + kAlphabet[static_cast<size_t>(action.kind)].name + "(" +
            std::to_string(action.which) + ", " + std::to_string(action.fate) + ")\n";
  }
  return text;
}

}  // namespace fanline::reconciler
