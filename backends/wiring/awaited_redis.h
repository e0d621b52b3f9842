// A Redis that the program can do without. It is not used until a first check has found it fit to
// hold timelines: its settings, and that no other installation owns it. From then on only the owner
// is checked. A Redis that is away later need not be awaited, but one of another installation is
// always refused.
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
    std::function<Status()> all;    // later: it does not answer
    std::function<Status()> whose;  // also done when it does not answer
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
