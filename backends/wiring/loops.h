// Turns the loops of one daemon's parts together, as one loop.
#pragma once

#include <array>
#include <tuple>

#include "daemon/run/run.h"

namespace fanline::wiring {

// Each part has Step(Now) and Drain(Now), as ConsumeLoop has.
template <typename... Part>
class Loops {
 public:
  // All outlive this object.
  explicit Loops(Part&... parts) : parts_(parts...) {}

  daemon::StepResult Step(const Now& now) {
    daemon::StepResult all;
    std::apply([&](auto&... part) { (Add(part.Step(now), all), ...); }, parts_);
    return all;
  }

  // Each part drains until its own work is done, and is not called again then.
  daemon::DrainResult Drain(const Now& now) {
    daemon::DrainResult all{.done = true};
    bool* done = done_.data();
    std::apply([&](auto&... part) { (DrainUnlessDone(part, *done++, now, all), ...); }, parts_);
    return all;
  }

 private:
  template <typename Result>
  static void Add(const Result& one, Result& all) {
    all.did_work |= one.did_work;
    all.next_timer = Earlier(all.next_timer, one.next_timer);
  }

  // The last result of a part that is done is ignored, because its work or timer would keep the
  // others awake.
  template <typename Loop>
  static void DrainUnlessDone(Loop& loop, bool& done, const Now& now, daemon::DrainResult& all) {
    if (done) return;
    const daemon::DrainResult one = loop.Drain(now);
    done = one.done;
    if (done) return;
    all.done = false;
    Add(one, all);
  }

  std::tuple<Part&...> parts_;
  std::array<bool, sizeof...(Part)> done_{};
};

}  // namespace fanline::wiring
