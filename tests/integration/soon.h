// Waits for a real service to report something, for which there is no event.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace fanline {

// Asks until the predicate holds; fails after ten seconds.
template <class Predicate>
::testing::AssertionResult Soon(Predicate predicate) {
  using std::chrono::steady_clock;
  const auto deadline = steady_clock::now() + std::chrono::seconds(10);
  while (!predicate()) {
    if (steady_clock::now() > deadline) return ::testing::AssertionFailure() << "not in time";
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return ::testing::AssertionSuccess();
}

}  // namespace fanline
