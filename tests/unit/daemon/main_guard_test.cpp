#include "daemon/run/main_guard.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "daemon/options/options.h"
#include "fanline/base/misconfigured.h"

namespace fanline::daemon {
namespace {

// In a child: GuardedMain changes handlers of the whole process.
[[noreturn]] void ExitLike(const std::function<int()>& body) {
  std::exit(GuardedMain("fanline-test", body));
}

TEST(MainGuardDeathTest, PassesTheExitCodeOfTheBody) {
  EXPECT_EXIT(ExitLike([] { return 75; }), testing::ExitedWithCode(75), "^$");
}

TEST(MainGuardDeathTest, TurnsAnEscapedExceptionIntoOneLogLineAnd70) {
  EXPECT_EXIT(ExitLike([]() -> int { throw std::runtime_error("no such topic"); }),
              testing::ExitedWithCode(kExitSoftware),
              "\"level\":\"error\",\"component\":\"fanline-test\",.*no such topic");
  EXPECT_EXIT(ExitLike([]() -> int { throw 5; }), testing::ExitedWithCode(kExitSoftware),
              "not a std::exception");
}

TEST(MainGuardDeathTest, TellsWhatOnlyAnOperatorCanChangeApart) {
  EXPECT_EXIT(ExitLike([]() -> int { throw Misconfigured("one partition too many"); }),
              testing::ExitedWithCode(kExitConfig), "refusing to go on.*one partition too many");
}

TEST(MainGuardDeathTest, TurnsAnExceptionOfAnotherThreadIntoTheSame) {
  EXPECT_EXIT(ExitLike([] {
                std::thread([] { throw std::runtime_error("lost"); }).join();
                return 0;
              }),
              testing::ExitedWithCode(kExitSoftware), "\"msg\":\"terminated\",.*lost");
}

}  // namespace
}  // namespace fanline::daemon
