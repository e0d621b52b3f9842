#include "bench/threads.h"

#include <future>
#include <latch>
#include <vector>

#include "bench/round.h"

namespace fanline::bench {

double SecondsOf(uint32_t threads, const std::function<std::function<void()>(uint32_t)>& prepare) {
  std::latch ready(threads + 1);
  std::vector<std::future<void>> running;
  for (uint32_t i = 0; i < threads; ++i) {
    running.push_back(std::async(std::launch::async, [&, i] {
      std::function<void()> work;
      try {
        work = prepare(i);
      } catch (...) {
        ready.arrive_and_wait();
        throw;
      }
      ready.arrive_and_wait();
      work();
    }));
  }
  ready.arrive_and_wait();
  const Stopwatch watch;
  for (const std::future<void>& each : running) each.wait();
  const double seconds = watch.Seconds();
  for (std::future<void>& each : running) each.get();  // throws what the thread threw
  return seconds;
}

}  // namespace fanline::bench
