// A fixed number of threads and no queue: who gives work waits until a thread is free to take it.
// For connections: those that are not taken wait in the kernel, which bounds them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace fanline::api {

class WorkerThreads {
 public:
  explicit WorkerThreads(size_t count);
  ~WorkerThreads() { Finish(); }
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  // One thread gives work, and nothing after Finish.
  void Give(std::function<void()> work);
  // Waits for what is under way.
  void Finish();

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable given_, taken_;
  // Below: under mutex_.
  std::function<void()> next_;
  size_t idle_ = 0;
  bool finishing_ = false;

  std::vector<std::thread> threads_;  // last: they use the others
};

}  // namespace fanline::api
