// Keeps the map of who serves what in Redis. A thread asks all masters, every map_every and
// whenever somebody doubts the map.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <thread>

#include "backends/redis/cluster/masters.h"

namespace fanline::redis {

class Topology {
 public:
  // Both are called from the topology's thread. OnMap: the newest map, changed or not; returns
  // false to have it asked for again soon. OnNobody: no node answers.
  using OnMap = std::function<bool(const SlotMap& map)>;
  using OnNobody = std::function<void(const std::string& why)>;

  Topology(const Options& options, OnMap on_map, OnNobody on_nobody);
  ~Topology() { Stop(); }

  void Start();
  void Stop();   // returns when the thread has ended
  void Doubt();  // any thread, never blocks; the map is asked for soon

 private:
  void Run();
  bool Ask();

  const Options options_;
  const OnMap on_map_;
  const OnNobody on_nobody_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  bool doubted_ = false;
  // ---- the thread's own
  Masters masters_;
  std::mt19937_64 random_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace fanline::redis
