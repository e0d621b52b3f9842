// Which shards each operation asks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/api/world.h"

namespace fanline::api {
namespace {

using ::testing::ElementsAre;

class TouchedTest : public ::testing::Test {
 protected:
  // The number-th user on a shard.
  UserId User(Shard shard, int number = 0) const {
    for (uint64_t id = 1;; ++id) {
      if (map_.ShardOf(UserId{id}) == shard && number-- == 0) return UserId{id};
    }
  }
  // The shard asked first, then all of them, of a request as World::Ask takes it.
  std::vector<Shard> Asked(const std::string& line, const std::string& body = {}) const {
    const Request request = RequestOf(line, body);
    const auto match = std::get<RouteMatch>(Match(request.method, request.path));
    const Call call = match.route->read({match.segments, request});
    const Touched touched = Touched::Of(call.owners, map_);
    std::vector<Shard> asked = {touched.first};
    asked.insert(asked.end(), touched.all.begin(), touched.all.end());
    return asked;
  }
  static std::string At(UserId user, const std::string& rest) {
    return "/v1/users/" + ToString(user) + "/" + rest;
  }

  const ShardMap map_ = ShardMap::Even(3);
};

TEST_F(TouchedTest, MostAskTheUsersOwnShardAlone) {
  const std::string bob = ToString(User(2));
  for (const std::string& line :
       {"PUT " + At(User(1), "following/" + bob), "GET " + At(User(1), "following/" + bob),
        "GET " + At(User(1), "followers?limit=5"), "GET " + At(User(1), "counts")}) {
    EXPECT_THAT(Asked(line), ElementsAre(1, 1)) << line;
  }
  EXPECT_THAT(Asked("POST " + At(User(1), "relations:check"), R"({"ids":[")" + bob + "\"]}"),
              ElementsAre(1, 1));
}

TEST_F(TouchedTest, AFriendshipIsWhereThePairsRowIsAndAChangeOfItWithBoth) {
  const UserId ann = User(1), bob = User(2);
  const Shard of_the_lower = map_.ShardOf(std::min(ann, bob));
  for (const auto& [user, other] : {std::pair(ann, bob), std::pair(bob, ann)}) {
    const std::string path = At(user, "friendships/" + ToString(other));
    EXPECT_THAT(Asked("GET " + path), ElementsAre(of_the_lower, of_the_lower));
    EXPECT_THAT(Asked("POST " + path + "/accept"), ElementsAre(of_the_lower, 1, 2));
  }
}

TEST_F(TouchedTest, WhoLooksAtSomebodyElsesListOrFollowersAsksTheirOwnShardToo) {
  EXPECT_THAT(Asked("GET " + At(User(2), "following?relation_to=" + ToString(User(0)))),
              ElementsAre(2, 0, 2));
  EXPECT_THAT(Asked("GET " + At(User(1), "familiar-followers/" + ToString(User(0)))),
              ElementsAre(1, 0, 1));
}

TEST_F(TouchedTest, AnItemWithAVersionMayAskItsOwnShard) {
  const std::string check = "POST " + At(User(0), "relations:check");
  const std::string ids = R"({"ids":[")" + ToString(User(1)) + R"(",{"id":")" + ToString(User(2)) +
                          R"(","min_version":"7"},{"id":0,"min_version":"7"}])";
  EXPECT_THAT(Asked(check, ids + "}"), ElementsAre(0, 0, 2));
  EXPECT_THAT(Asked(check, ids + R"(,"sides":"following"})"), ElementsAre(0, 0));
}

}  // namespace
}  // namespace fanline::api
