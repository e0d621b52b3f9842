#include "api/worker_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

namespace fanline::api {
namespace {

TEST(WorkerThreads, DoAllTheyAreGivenBeforeTheyFinish) {
  std::atomic<int> done = 0;
  WorkerThreads threads(3);
  for (int i = 0; i < 1'000; ++i) threads.Give([&] { ++done; });
  threads.Finish();
  EXPECT_EQ(done, 1'000);
}

TEST(WorkerThreads, AsManyAreAtWorkAsThereAreThreads) {
  std::latch all_there(3);
  WorkerThreads threads(3);
  for (int i = 0; i < 3; ++i) threads.Give([&] { all_there.arrive_and_wait(); });
  all_there.wait();  // would never end if two shared a thread
}

TEST(WorkerThreads, WhoGivesMoreWaitsUntilOneIsFree) {
  std::latch release(1);
  std::atomic<bool> given = false;
  WorkerThreads threads(1);
  threads.Give([&] { release.wait(); });
  std::thread giver([&] {
    threads.Give([] {});
    given = true;
  });
  EXPECT_FALSE(given);
  release.count_down();
  giver.join();
  EXPECT_TRUE(given);
}

}  // namespace
}  // namespace fanline::api
