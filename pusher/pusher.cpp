#include "pusher/pusher.h"

namespace fanline::pusher {

namespace {

// Whether Redis refused the request because another owner has claimed the range.
template <typename Value>
bool Fenced(const Value& input) {
  if constexpr (requires { input.needs_claim; }) {
    return input.needs_claim && CauseOf(input.status) == TakeoverCause::kFenced;
  }
  return false;
}

// Gives the input to the ranges, or else to the units.
template <typename Value>
void Give(Value& input, Ranges& ranges, Units& units, Now now) {
  if constexpr (requires { ranges.On(input, now); }) {
    if (ranges.On(input, now)) return;
  }
  if constexpr (requires { units.On(input, now); }) units.On(input, now);
}

}  // namespace

Progress Pusher::Step(std::span<Input> inputs, Now now) {
  for (Input& input : inputs) {
    std::visit(
        [&](auto& value) {
          // Counted before the owner of the input is looked up: the range may be gone by now.
          if (Fenced(value)) common_.ports.metrics.WriteFenced();
          Give(value, ranges_, units_, now);
        },
        input);
  }
  Progress progress;
  units_.GoOn(now);
  ranges_.Tend(now, progress.orders);
  units_.Start(now);

  Metrics::Held held;
  ranges_.Show(held);
  units_.Show(held);
  common_.ports.metrics.Holding(held);
  progress.next_timer = Earlier(ranges_.timer(), units_.timer());
  return progress;
}

void Pusher::StopTaking() {
  ranges_.StopTaking();
  units_.StopTaking();
}

}  // namespace fanline::pusher
