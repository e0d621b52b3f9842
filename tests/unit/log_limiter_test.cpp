#include "fanline/base/log_limiter.h"

#include <gmock/gmock.h>

#include <vector>

namespace fanline {
namespace {

using ::testing::ElementsAre;

TEST(LogLimiter, PassesOneLineOfAKeyPerIntervalAndSaysHowManyItHeldBack) {
  std::vector<std::string> lines;
  Time now{};
  LogLimiter limiter([&](LogLevel, const std::string& line) { lines.push_back(line); },
                     [&now] { return now; });
  for (int i = 0; i < 3; ++i) limiter.Log(LogLevel::kWarn, "down", "no broker");
  limiter.Log(LogLevel::kWarn, "other", "no topic");
  EXPECT_THAT(lines, ElementsAre("no broker", "no topic"));

  lines.clear();
  now += LogLimiter::kInterval;
  limiter.Log(LogLevel::kWarn, "down", "no broker");
  EXPECT_THAT(lines, ElementsAre("no broker (and 2 times more before)"));
}

TEST(LogLimiter, IsSilentOnceItsSinkIsGone) {
  int lines = 0;
  LogLimiter limiter([&](LogLevel, const std::string&) { ++lines; }, [] { return Time{}; });
  limiter.Silence();
  limiter.Log(LogLevel::kError, "any", "line");
  limiter.Log(LogLevel::kError, "line");
  EXPECT_EQ(lines, 0);
}

}  // namespace
}  // namespace fanline
