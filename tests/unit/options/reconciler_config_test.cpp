#include "reconciler/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fanline::reconciler {
namespace {

using testing::HasSubstr;

daemon::Parsed Parse(std::vector<const char*> arguments) {
  Config config;
  daemon::OptionTable table("fanline-reconciler", "finds relations whose two rows differ");
  AddOptions(table, config);
  arguments.insert(arguments.begin(), {"fanline-reconciler", "--check-config", "--mysql-shards",
                                       "127.0.0.1:3306/fanline"});
  return table.Parse(static_cast<int>(arguments.size()), arguments.data(), {});
}

TEST(ReconcilerConfig, ColumnsThatAreNoneAreRefusedAlsoWithoutTablesOfAnApplication) {
  EXPECT_EQ(Parse({}).exit_code, 0) << Parse({}).err;
  EXPECT_EQ(Parse({"--edge-columns", "a,b,c,d,e"}).exit_code, 0);
  EXPECT_EQ(Parse({"--edge-columns", "a,b,c,d,e;f"}).exit_code, daemon::kExitConfig);
  EXPECT_THAT(Parse({"--edge-columns", "a,b,c,d,e;f"}).err,
              HasSubstr("--edge-columns: letters, digits and underscores, at most 64"));
  EXPECT_THAT(Parse({"--edge-columns", "a;b"}).err, HasSubstr("--edge-columns: five names"));
}

}  // namespace
}  // namespace fanline::reconciler
