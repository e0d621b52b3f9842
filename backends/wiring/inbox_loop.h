// The turn of a part that consumes no topic: completions in. The logic is a type with
// Step(span<Input>, Now), whose Progress has no orders, StopTaking() and drained().
#pragma once

#include <vector>

#include "daemon/inbox.h"
#include "daemon/run/run.h"

namespace fanline::wiring {

template <typename Logic, typename Input>
class InboxLoop {
 public:
  // Both outlive this object.
  InboxLoop(daemon::Inbox<Input>& inbox, Logic& logic) : inbox_(inbox), logic_(logic) {}

  daemon::StepResult Step(const Now& now) {
    std::vector<Input> inputs = inbox_.Drain();
    return {!inputs.empty(), logic_.Step(inputs, now).next_timer};
  }

  daemon::DrainResult Drain(const Now& now) {
    logic_.StopTaking();
    const daemon::StepResult turn = Step(now);
    return {logic_.drained(), turn.did_work, turn.next_timer};
  }

 private:
  daemon::Inbox<Input>& inbox_;
  Logic& logic_;
};

}  // namespace fanline::wiring
