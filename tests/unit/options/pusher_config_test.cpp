#include "pusher/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fanline::pusher {
namespace {

using testing::HasSubstr;

daemon::Parsed Parse(std::vector<const char*> arguments) {
  Config config;
  daemon::OptionTable table("fanline-pusher", "writes posts into live timelines");
  AddOptions(table, config);
  arguments.insert(arguments.begin(), {"fanline-pusher", "--check-config", "--mysql-shards",
                                       "127.0.0.1:3306/fanline"});
  return table.Parse(static_cast<int>(arguments.size()), arguments.data(), {});
}

// Pages would be taken for those of a pusher that lags, and say that they are incomplete.
TEST(PusherConfig, ProgressIsWrittenOftenEnoughForPagesToBeWhole) {
  EXPECT_EQ(Parse({"--save-position-every", "3s"}).exit_code, 0);
  EXPECT_EQ(Parse({"--save-position-every", "4s"}).exit_code, daemon::kExitConfig);
  EXPECT_THAT(Parse({"--save-position-every", "4s"}).err, HasSubstr("--save-position-every"));
}

}  // namespace
}  // namespace fanline::pusher
