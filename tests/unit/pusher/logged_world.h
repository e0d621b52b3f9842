// The world of the pusher's tests in which it reads a log again from where it seeks.
#pragma once

#include "tests/unit/pusher/world.h"

namespace fanline::pusher {

// Range 0 with a log that is read from wherever the pusher seeks, and a Redis whose walks over all
// keys take a while.
struct LoggedWorld : World {
  using World::World;  // without range 0
  LoggedWorld() {
    Assign(0);
    Obey();
  }

  std::vector<std::string> log;
  size_t next = 0;
  bool flowing = false;
  Duration walk_takes = std::chrono::seconds(3);
  std::vector<std::pair<Time, ResetRange>> walks;
  size_t walks_begun = 0;
  size_t seeks = 0;

  Duration turn = std::chrono::milliseconds(100);

  // Delivers two records of the log per turn.
  void Run(Duration time) {
    for (const Time end = now.mono + time; now.mono < end; Pass(turn)) {
      for (int i = 0; i < 2 && flowing && next < log.size(); ++i) {
        next_offset[0] = static_cast<int64_t>(next);
        GiveBytes(0, log[next++]);
      }
      do {
        Step();
        Obey();
        AnswerTruth();
        HoldWalks();
        AnswerTimelines();
      } while (!inbox.empty());
    }
  }
  void HoldWalks() {
    std::erase_if(timeline_calls, [this](const TimelineRequest& call) {
      const auto* reset = std::get_if<ResetRange>(&call);
      if (reset == nullptr || reset->range != 0) return false;
      if (reset->timelines != ResetRange::Timelines::kDrop) return false;
      walks.emplace_back(now.mono + walk_takes, *reset);
      ++walks_begun;
      return true;
    });
    std::erase_if(walks, [this](const auto& walk) {
      if (walk.first > now.mono) return false;
      inbox.emplace_back(redis.Do(walk.second));
      return true;
    });
  }
  void Obey() {
    for (const auto& at : std::exchange(sought, {})) {
      if (at.partition != 0) continue;
      ++seeks;
      next = static_cast<size_t>(at.offset);
      flowing = true;
    }
    for (auto range : std::exchange(paused, {})) flowing = flowing && range != 0;
    for (auto range : std::exchange(resumed, {})) flowing = flowing || range == 0;
  }
};

}  // namespace fanline::pusher
