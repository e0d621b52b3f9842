// Two parts of one daemon that turn together, as one; nests: BothLoops<A, BothLoops<B, C>>.
#pragma once

#include "daemon/run/run.h"

namespace fanline::wiring {

// One and Other have Step(Now) and Drain(Now), as ConsumeLoop has.
template <typename One, typename Other>
class BothLoops {
 public:
  // Both outlive this object.
  BothLoops(One& one, Other& other) : one_(one), other_(other) {}

  daemon::StepResult Step(const Now& now) {
    const auto one = one_.Step(now);
    const auto other = other_.Step(now);
    return {one.did_work || other.did_work, Earlier(one.next_timer, other.next_timer)};
  }

  // Each leaves as soon as its own work is done, and is not called again.
  daemon::DrainResult Drain(const Now& now) {
    DrainUnlessDone(one_, one_drain_, now);
    DrainUnlessDone(other_, other_drain_, now);
    return {one_drain_.done && other_drain_.done, one_drain_.did_work || other_drain_.did_work,
            Earlier(one_drain_.next_timer, other_drain_.next_timer)};
  }

 private:
  // What a part said when it was done says nothing of the turns after: its work or its timer would
  // keep the other from sleeping.
  template <typename Loop>
  static void DrainUnlessDone(Loop& loop, daemon::DrainResult& result, const Now& now) {
    if (!result.done) result = loop.Drain(now);
    if (result.done) result = {.done = true};
  }

  One& one_;
  Other& other_;
  daemon::DrainResult one_drain_, other_drain_;
};

}  // namespace fanline::wiring
