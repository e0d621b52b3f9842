#include "audit/sampling.h"

#include <utility>

namespace fanline::audit {

Sampling::Sampling(Sampler sampler, const ProgressBoard& board, std::function<Time()> clock)
    : sampler_(std::move(sampler)),
      board_(board),
      clock_(std::move(clock)),
      thread_([this] { Run(); }) {}

Sampling::~Sampling() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  thread_.join();
}

void Sampling::Run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    const Time next = sampler_.Step(board_.Look(), clock_());
    lock.lock();
    stop_.wait_until(lock, next, [this] { return stopping_; });
  }
}

}  // namespace fanline::audit
