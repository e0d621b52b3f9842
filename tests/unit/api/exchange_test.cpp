// Which requests are under way together, and what becomes of replies, with shards that answer when
// they are told to.
#include "api/operations/exchange.h"

#include <gmock/gmock.h>

#include "api/operations/routes.h"
#include "tests/fakes/requests.h"
#include "tests/unit/api/world.h"

namespace fanline::api {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Shards =
    fakes::Keeper<ChangeEdge, ReadPair, ReadList, CountRelations, CheckUsers, ReadForward,
                  ReadFriendship, AskRoom, UseUpChange, AnnouncePair, WriteFriendship,
                  ReadFollowees, ReadLastAt, ReadItems, ConfirmReads, ReadOutbox, LookUpUser,
                  ReadMutes, ChangeMutes, ReadOriginals, FindSources, ReadLivePage, BeginRebuild,
                  FinishRebuild, AbandonRebuild, ReadReposters, ReadRepostsBy>;

class ExchangeTest : public ::testing::Test {
 protected:
  // As World::Ask.
  void Begin(const std::string& line, const std::string& body = {}) {
    const Request request = RequestOf(line, body);
    const auto match = std::get<RouteMatch>(Match(request.method, request.path));
    const Call call = match.route->read({match.segments, request});
    exchanges_.Begin(call, nullptr, [this](const Response& response, const Status&) {
      answers_.push_back(std::to_string(response.status) + " " + response.body);
    });
  }
  // The number-th request so far, which is of that kind.
  template <class R>
  const R& Sent(size_t number) const {
    return *sent_.at(number).As<R>();
  }
  template <class R>
  void Reply(size_t number, typename R::Reply reply) {
    const auto asked = std::get<fakes::Asked<R>>(sent_.at(number).asked);
    reply.id = asked.request.id;
    asked.to(reply);
  }
  template <class R>
  void Fail(size_t number) {
    typename R::Reply reply;
    reply.status = Status::Later("mysql_1", "away");
    Reply<R>(number, reply);
  }
  // The number-th user on a shard.
  UserId User(Shard shard, int number = 0) const {
    uint64_t id = 1;
    while (map_.ShardOf(UserId{id}) != shard || number-- > 0) ++id;
    return UserId{id};
  }

  const ShardMap map_ = ShardMap::Even(3);
  std::vector<Shards::Request> sent_;
  Shards shards_{sent_};
  Exchanges exchanges_{shards_, shards_, shards_, shards_, nullptr, map_, {}, [] { return Now{}; }};
  std::vector<std::string> answers_;
};

TEST_F(ExchangeTest, IsAnsweredWithTheReply) {
  Begin("GET /v1/users/5/counts");
  EXPECT_EQ(Sent<CountRelations>(0).user, UserId{5});
  EXPECT_THAT(answers_, IsEmpty());
  Reply<CountRelations>(0, {.status = {}, .counts = {2, 3}});
  EXPECT_THAT(answers_, ElementsAre(R"(200 {"user":"5","following":2,"followers":3})"));
}

// "one": its reverse row is new enough. The others' rows are behind, and on two shards.
TEST_F(ExchangeTest, ACheckAsksAllShardsTogetherThatKnowANewerVersion) {
  const UserId user = User(0), one = User(0, 1), two = User(1), three = User(2), four = User(2, 1);
  const auto item = [](UserId id) {
    return R"({"id":")" + ToString(id) + R"(","min_version":"7"})";
  };
  Begin("POST /v1/users/" + ToString(user) + "/relations:check",
        "{\"ids\":[" + item(one) + "," + item(two) + ",0," + item(three) + "," + item(four) + "]}");
  EXPECT_THAT(Sent<CheckUsers>(0).others, ElementsAre(one, two, three, four));
  Reply<CheckUsers>(0, {.status = {}, .standings = {{true, {7, true, 1}}, {}, {}, {}}});
  ASSERT_THAT(sent_, SizeIs(3));
  EXPECT_EQ(Sent<ReadForward>(1).shard, 1u);
  EXPECT_THAT(Sent<ReadForward>(1).edges, ElementsAre(EdgeKey{two, user}));
  EXPECT_EQ(Sent<ReadForward>(2).shard, 2u);
  EXPECT_THAT(Sent<ReadForward>(2).edges, ElementsAre(EdgeKey{three, user}, EdgeKey{four, user}));
  Reply<ReadForward>(2, {.status = {}, .states = {{8, true, 1}, {}}});
  EXPECT_THAT(answers_, IsEmpty());
  Reply<ReadForward>(1, {.status = {}, .states = {{7, false, 1}}});
  ASSERT_THAT(answers_, SizeIs(1));
  const auto answer = nlohmann::json::parse(answers_[0].substr(4))["items"];
  EXPECT_EQ(answer[0]["relation"], "mutual");
  EXPECT_EQ(answer[1]["relation"], "none");
  EXPECT_EQ(answer[2]["error"]["code"], "bad_id");
  EXPECT_EQ(answer[3]["relation"], "follower");
  EXPECT_EQ(answer[4]["error"]["code"], "version_not_reached");
}

TEST_F(ExchangeTest, AFriendshipAsksBothEdgesTogether) {
  Begin("POST /v1/users/5/friendships/7/accept");
  Reply<ReadFriendship>(0, {.status = {}, .now = {FriendState::kAsked, UserId{7}, 3}});
  ASSERT_THAT(sent_, SizeIs(3));
  for (const size_t each : {2, 1}) Reply<AskRoom>(each, {});
  ASSERT_THAT(sent_, SizeIs(4));
  Reply<UseUpChange>(3, {});
  ASSERT_THAT(sent_, SizeIs(6));
  EXPECT_EQ(Sent<AnnouncePair>(4).edge, (EdgeKey{UserId{5}, UserId{7}}));
  EXPECT_EQ(Sent<AnnouncePair>(5).edge, (EdgeKey{UserId{7}, UserId{5}}));
  for (const size_t each : {5, 4}) Reply<AnnouncePair>(each, {});
  EXPECT_TRUE(Sent<WriteFriendship>(6).announced);
  Reply<WriteFriendship>(
      6, {.status = {}, .now = {FriendState::kFriends, UserId{7}, 4}, .changed = true});
  EXPECT_THAT(answers_, ElementsAre(R"(200 {"user":"5","other":"7","state":"friends",)"
                                    R"("version":"4","asked_by":"7","changed":true})"));
}

TEST_F(ExchangeTest, TheFirstFailureIsTheAnswerAndLaterRepliesAreNone) {
  Begin("POST /v1/users/5/friendships/7/accept");
  Reply<ReadFriendship>(0, {.status = {}, .now = {FriendState::kAsked, UserId{7}, 3}});
  Fail<AskRoom>(2);
  ASSERT_THAT(answers_, SizeIs(1));
  EXPECT_TRUE(answers_[0].starts_with("503 ")) << answers_[0];
  Reply<AskRoom>(1, {});
  EXPECT_THAT(answers_, SizeIs(1));
  EXPECT_THAT(sent_, SizeIs(3));
}

TEST_F(ExchangeTest, FamiliarFollowersAreSoughtPageByPageUntilThereAreEnough) {
  Begin("GET /v1/users/1/familiar-followers/9?limit=2");
  const ListCursor next{5, UserId{3}, 2};
  const auto page = [&](UserId one, UserId other) {
    return ListRead{0, {}, {{{one, 7}, {other, 5}}, next}};
  };
  Reply<ReadList>(0, page(UserId{4}, UserId{3}));
  EXPECT_EQ(Sent<CheckUsers>(1).user, UserId{9});
  Reply<CheckUsers>(1, {.status = {}, .standings = {{}, {false, {1, true, 1}}}});
  EXPECT_EQ(Sent<ReadList>(2).after, next);
  Reply<ReadList>(2, page(UserId{2}, UserId{8}));
  Reply<CheckUsers>(3, {.status = {}, .standings = {{false, {1, true, 1}}, {false, {1, true, 1}}}});
  EXPECT_THAT(answers_, ElementsAre(R"(200 {"items":[{"id":"3"},{"id":"2"}]})"));
  EXPECT_THAT(sent_, SizeIs(4));
}

}  // namespace
}  // namespace fanline::api
