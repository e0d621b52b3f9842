// A Redis that a program can do without until it answers. Until it was found fit to hold timelines
// - its settings, and whose timelines it holds - nobody uses it; from then on only the latter is
// asked again. A Redis that is away meanwhile is no reason to wait, but a wrong one is always
// refused.
//
// Ask: one thread at a time. fit: any thread.
#pragma once

#include <atomic>
#include <functional>

#include "fanline/base/outcome.h"

namespace fanline::wiring {

class AwaitedRedis {
 public:
  struct Questions {
    std::function<Status()> all;    // later: does not answer
    std::function<Status()> whose;  // done also when it does not answer
  };
  explicit AwaitedRedis(Questions questions) : questions_(std::move(questions)) {}

  // Never: the reason to refuse. Later: not found fit yet.
  [[nodiscard]] Status Ask() {
    if (fit_) return questions_.whose();
    Status status = questions_.all();
    fit_ = status.done();
    return status;
  }
  bool fit() const { return fit_; }

 private:
  const Questions questions_;
  std::atomic<bool> fit_ = false;
};

}  // namespace fanline::wiring
