// Feed-events in memory. Answers at once, or on demand. One thread at a time.
#pragma once

#include <utility>
#include <vector>

#include "fanline/ports/hint_log.h"
#include "fanline/ports/port.h"

namespace fanline::fakes {

class FakeEventLog : public Serves<AppendEvent> {
 public:
  std::vector<FeedEvent> appended;
  Status fails = Status::Done();
  bool silent = false;  // keeps its answers until Answer

  void Submit(AppendEvent request, ReplyTo<EventAppended> to) override {
    if (fails.done()) appended.push_back(request.event);
    kept_.emplace_back(EventAppended{request.id, fails}, to);
    if (!silent) Answer();
  }
  void Answer() {
    for (auto& [reply, to] : std::exchange(kept_, {})) to(std::move(reply));
  }

 private:
  std::vector<std::pair<EventAppended, ReplyTo<EventAppended>>> kept_;
};

}  // namespace fanline::fakes
