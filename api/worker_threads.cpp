#include "api/worker_threads.h"

#include <utility>

namespace fanline::api {

WorkerThreads::WorkerThreads(size_t count) {
  while (threads_.size() < count) threads_.emplace_back([this] { Run(); });
}

void WorkerThreads::Give(std::function<void()> work) {
  std::unique_lock lock(mutex_);
  taken_.wait(lock, [this] { return idle_ > 0 && !next_; });
  next_ = std::move(work);
  given_.notify_one();
}

void WorkerThreads::Finish() {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
    given_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void WorkerThreads::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    taken_.notify_one();
    given_.wait(lock, [this] { return next_ || finishing_; });
    --idle_;
    if (!next_) return;
    const auto work = std::exchange(next_, nullptr);
    taken_.notify_one();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace fanline::api
