#include "backends/mysql/sql/config.h"

#include <gmock/gmock.h>

namespace fanline::mysql {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(ParseShards, ReadsAddressesInTheirOrder) {
  std::string why;
  EXPECT_THAT(ParseShards("tcp://127.0.0.1:3307/fanline,tcp://db.example:3308/other", &why),
              ElementsAre(ShardAddress{"127.0.0.1", 3307, "fanline"},
                          ShardAddress{"db.example", 3308, "other"}));
}

TEST(ParseShards, SchemeAndPortMayBeLeftOut) {
  std::string why;
  EXPECT_THAT(ParseShards("db/fanline", &why), ElementsAre(ShardAddress{"db", 3306, "fanline"}));
  EXPECT_THAT(ParseShards("[::1]/a,tcp://[fe80::2]:99/b", &why),
              ElementsAre(ShardAddress{"::1", 3306, "a"}, ShardAddress{"fe80::2", 99, "b"}));
}

TEST(ParseShards, RefusesWhatIsNoAddressAndSaysHowOneLooks) {
  for (const char* text :
       {"", "tcp://", "db", "db/", "/fanline", "db:/fanline", "db:0/fanline", "db:65536/fanline",
        "db:33x/fanline", "db/a/b", "[::1/a", "[::1]x/a", "db/a,", "db/a,,db/b"}) {
    std::string why;
    EXPECT_THAT(ParseShards(text, &why), IsEmpty()) << text;
    EXPECT_THAT(why, HasSubstr("tcp://host:port/database")) << text;
  }
}

TEST(ParseShards, RefusesCredentialsWithoutRepeatingThem) {
  std::string why;
  EXPECT_THAT(ParseShards("tcp://fanline:secret@db:3306/fanline", &why), IsEmpty());
  EXPECT_THAT(why, HasSubstr("password"));
  EXPECT_THAT(why, Not(HasSubstr("secret")));
}

TEST(Config, SaysWhereAShardIs) {
  Config config;
  config.shards = {{"m0", 3306, "feed"}, {"m1", 3307, "feed"}};
  EXPECT_EQ(config.PlaceOf(1), "shard 1 at m1:3307/feed");
  EXPECT_EQ(config.PlaceOf("mysql_1"), config.PlaceOf(1));
  EXPECT_EQ(config.PlaceOf("redis"), "");
  config.resource = "bodies";
  EXPECT_EQ(config.PlaceOf("bodies"), "bodies at m0:3306/feed");
}

}  // namespace
}  // namespace fanline::mysql
