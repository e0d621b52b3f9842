// What single daemons refuse.
#include <gmock/gmock.h>

#include "pusher/config.h"
#include "reconciler/config.h"

namespace fanline {
namespace {

using testing::HasSubstr;

template <class Config>
daemon::Parsed Parse(std::vector<const char*> arguments) {
  Config config;
  daemon::OptionTable table("program", "");
  AddOptions(table, config);
  arguments.insert(arguments.begin(),
                   {"program", "--check-config", "--mysql-shards", "127.0.0.1:3306/fanline"});
  return table.Parse(static_cast<int>(arguments.size()), arguments.data(), {});
}

// Pages would be taken for those of a pusher that lags, and say that they are incomplete.
TEST(PusherConfig, ProgressIsWrittenOftenEnoughForPagesToBeWhole) {
  constexpr auto parse = Parse<pusher::Config>;
  EXPECT_EQ(parse({"--save-position-every", "3s"}).exit_code, 0);
  EXPECT_EQ(parse({"--save-position-every", "4s"}).exit_code, daemon::kExitConfig);
  EXPECT_THAT(parse({"--save-position-every", "4s"}).err, HasSubstr("--save-position-every"));
}

TEST(ReconcilerConfig, ColumnsThatAreNoneAreRefusedAlsoWithoutTablesOfAnApplication) {
  constexpr auto parse = Parse<reconciler::Config>;
  EXPECT_EQ(parse({}).exit_code, 0) << parse({}).err;
  EXPECT_EQ(parse({"--edge-columns", "a,b,c,d,e"}).exit_code, 0);
  EXPECT_EQ(parse({"--edge-columns", "a,b,c,d,e,f"}).exit_code, 0);
  EXPECT_EQ(parse({"--edge-columns", "a,b,c,d,e,f,g"}).exit_code, daemon::kExitConfig);
  EXPECT_EQ(parse({"--edge-columns", "a,b,c,d,e;f"}).exit_code, daemon::kExitConfig);
  EXPECT_THAT(parse({"--edge-columns", "a,b,c,d,e;f"}).err,
              HasSubstr("--edge-columns: letters, digits and underscores, at most 64"));
  EXPECT_THAT(parse({"--edge-columns", "a;b"}).err, HasSubstr("--edge-columns: five names"));
}

}  // namespace
}  // namespace fanline
