#include "bench/threads.h"

#include <exception>
#include <latch>
#include <thread>
#include <vector>

#include "bench/round.h"

namespace fanline::bench {

double SecondsOf(uint32_t threads, const std::function<std::function<void()>(uint32_t)>& prepare) {
  std::latch ready(threads + 1);
  std::vector<std::exception_ptr> errors(threads);
  std::vector<std::thread> running;
  for (uint32_t i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      std::function<void()> work;
      try {
        work = prepare(i);
      } catch (...) {
        errors[i] = std::current_exception();
      }
      ready.arrive_and_wait();
      if (errors[i]) return;
      try {
        work();
      } catch (...) {
        errors[i] = std::current_exception();
      }
    });
  }
  ready.arrive_and_wait();
  const Stopwatch watch;
  for (std::thread& thread : running) thread.join();
  const double seconds = watch.Seconds();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return seconds;
}

}  // namespace fanline::bench
