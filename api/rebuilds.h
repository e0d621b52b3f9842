// Makes timelines live behind the answers that found them missing: a bounded queue of readers, and
// a bounded number of threads that rebuild one each. A page never waits for it.
//
// A reader waits or is rebuilt once at a time here, and Redis keeps other processes from doing it
// beside us (Rebuild in timeline/rebuild.h).
//
// Anybody may ask for the timeline of a user nobody knows. Such a reader gets one too, so that
// asking again costs no shard anything; it lives for kEmptyTimelineTtl, and no more than
// Limits::strangers of them are made in that time.
//
// Thread-safe.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "api/metrics.h"
#include "fanline/base/time.h"
#include "fanline/model/ids.h"

namespace fanline::api {

class Rebuilds {
 public:
  struct Limits {
    size_t waiting = 16'384;  // one more is not made live now; its next visit asks again
    size_t strangers = 10'000;
  };
  // Rebuilds one reader's timeline. Blocks; throws nothing; one thread at a time.
  using Rebuild = std::function<void(UserId reader)>;

  // A thread for each of `rebuilds`. `clock`: any thread. `metrics` outlives this.
  Rebuilds(std::vector<Rebuild> rebuilds, Limits limits, Metrics& metrics,
           std::function<Time()> clock);
  // Waits for those under way. Those that wait are forgotten.
  ~Rebuilds();
  Rebuilds(const Rebuilds&) = delete;
  Rebuilds& operator=(const Rebuilds&) = delete;

  // Never blocks for long. False: there is no room. `known`: some row is about the reader.
  [[nodiscard]] bool Offer(UserId reader, bool known);

 private:
  void Run(const Rebuild& rebuild);
  bool StrangerFits();

  const Limits limits_;
  Metrics& metrics_;
  const std::function<Time()> clock_;

  std::mutex mutex_;
  std::condition_variable work_;
  // Below: under mutex_.
  std::deque<UserId> waiting_;
  std::set<UserId> taken_;      // those that wait, and those under way
  std::deque<Time> strangers_;  // until when each counts
  bool stopping_ = false;

  std::vector<std::thread> threads_;  // last: they use the others
};

}  // namespace fanline::api
