// The thread of a sampler: turns it, and sleeps between. A port that hangs or fails keeps nobody
// else waiting.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "audit/progress.h"
#include "audit/sampler.h"

namespace fanline::audit {

class Sampling {
 public:
  // Everything is used by the one thread until this is destroyed; the board outlives it.
  Sampling(Sampler sampler, const ProgressBoard& board, std::function<Time()> clock);
  // Waits for the look that is under way.
  ~Sampling();
  Sampling(const Sampling&) = delete;
  Sampling& operator=(const Sampling&) = delete;

 private:
  void Run();

  Sampler sampler_;
  const ProgressBoard& board_;
  const std::function<Time()> clock_;

  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;  // under mutex_

  std::thread thread_;  // last: it uses the others
};

}  // namespace fanline::audit
