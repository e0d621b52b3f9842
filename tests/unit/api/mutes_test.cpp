// Whom a user mutes, over HTTP, and what the home timeline shows then.
#include "tests/unit/api/pages_world.h"

namespace fanline::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class MutesTest : public PagesTest {
 protected:
  Response Ask(const std::string& line, const std::string& if_match = {},
               const std::string& body = {}) {
    Request request = RequestOf(line, body);
    request.if_match = if_match;
    std::promise<Response> answered;
    w_.handler->Serve(request, [&](Response each) { answered.set_value(std::move(each)); });
    return answered.get_future().get();
  }
  static std::string EtagOf(const Response& response) {
    for (const auto& [name, value] : response.headers) {
      if (name == "ETag") return value;
    }
    return "";
  }
  static std::string CodeOf(const Response& response) {
    return json::parse(response.body).value("code", "");
  }
  void Mute(const std::string& other) {
    EXPECT_EQ(Ask("PUT /v1/users/5/mutes/" + other).status, 200);
  }
  std::vector<std::string> Muted() {
    return json::parse(Ask("GET /v1/users/5/mutes").body)["muted"];
  }
  // What the change's sync does.
  void Tell() {
    w_.posts.redis.Do(
        SetMutes{.reader = UserId{5}, .mutes = w_.posts.mysql.relations.mutes(UserId{5}).mark()});
  }
};

TEST_F(MutesTest, AListBeginsEmptyAtVersionZero) {
  const Response response = Ask("GET /v1/users/5/mutes");
  EXPECT_EQ(response.body, R"({"user":"5","muted":[],"version":"0"})");
  EXPECT_EQ(EtagOf(response), "\"0\"");
}

TEST_F(MutesTest, AnAuthorIsMutedAndUnmuted) {
  Mute("9");
  const Response muted = Ask("PUT /v1/users/5/mutes/7");
  const std::string version = json::parse(muted.body)["version"];
  EXPECT_EQ(muted.body,
            R"({"user":"5","other":"7","muted":true,"changed":true,"version":")" + version + "\"}");
  EXPECT_EQ(EtagOf(muted), '"' + version + '"');
  EXPECT_THAT(Muted(), ElementsAre("7", "9"));
  EXPECT_EQ(json::parse(Ask("PUT /v1/users/5/mutes/7").body)["changed"], false);
  const json unmuted = json::parse(Ask("DELETE /v1/users/5/mutes/9").body);
  EXPECT_EQ(unmuted["muted"], false);
  EXPECT_EQ(unmuted["changed"], true);
  EXPECT_THAT(Muted(), ElementsAre("7"));
}

TEST_F(MutesTest, OfTwoDevicesTheSecondIsToldOfTheFirst) {
  const std::string seen = EtagOf(Ask("GET /v1/users/5/mutes"));
  const std::string first = EtagOf(Ask("PUT /v1/users/5/mutes/7", seen));
  for (const char* late : {"PUT /v1/users/5/mutes/9", "DELETE /v1/users/5/mutes/7"}) {
    const Response refused = Ask(late, seen);
    EXPECT_EQ(refused.status, 412);
    EXPECT_EQ(CodeOf(refused), "mutes_changed");
    EXPECT_EQ(EtagOf(refused), first);
    EXPECT_THAT(refused.body, HasSubstr(first.substr(1, first.size() - 2)));
  }
  EXPECT_EQ(Ask("PUT /v1/users/5/mutes", seen, R"({"muted":[]})").status, 412);
  EXPECT_EQ(Ask("PUT /v1/users/5/mutes/7", seen).status, 200) << "the first is repeated";
  EXPECT_THAT(Muted(), ElementsAre("7"));
  EXPECT_EQ(Ask("PUT /v1/users/5/mutes", "W/" + first, R"({"muted":["9",8,"9"]})").status, 200)
      << "a proxy has made it weak";
  EXPECT_THAT(Muted(), ElementsAre("8", "9"));
}

TEST_F(MutesTest, AWholeListIsReplacedOnlyByWhoSaysWhatItReplaces) {
  const Response refused = Ask("PUT /v1/users/5/mutes", "", R"({"muted":["9"]})");
  EXPECT_EQ(refused.status, 428);
  EXPECT_EQ(CodeOf(refused), "precondition_required");
  EXPECT_EQ(Ask("PUT /v1/users/5/mutes", "*", R"({"muted":["9"]})").status, 200);
  EXPECT_THAT(Muted(), ElementsAre("9"));
}

TEST_F(MutesTest, WhatCannotBeReadIsRefused) {
  for (const char* etag : {"0", "\"x\"", "\"\"", "W/0", "\"0\", \"1\"", "\"00\""}) {
    EXPECT_EQ(Ask("PUT /v1/users/5/mutes/7", etag).status, 400) << etag;
  }
  for (const char* body : {R"({})", R"({"muted":"7"})", R"({"muted":["x"]})",
                           R"({"muted":[],"version":"0"})", R"([])", "{"}) {
    EXPECT_EQ(Ask("PUT /v1/users/5/mutes", "\"0\"", body).status, 400) << body;
  }
  EXPECT_EQ(CodeOf(Ask("PUT /v1/users/5/mutes/5")), "same_user");
  EXPECT_EQ(CodeOf(Ask("PUT /v1/users/5/mutes", "\"0\"", R"({"muted":["5"]})")), "same_user");
  EXPECT_THAT(Muted(), IsEmpty());
}

TEST_F(MutesTest, AThousandAuthorsAreTheMost) {
  json all = json::array();
  for (uint64_t id = 10; id < 10 + kMostMuted; ++id) all.push_back(std::to_string(id));
  ASSERT_EQ(Ask("PUT /v1/users/5/mutes", "\"0\"", json{{"muted", all}}.dump()).status, 200);
  const Response refused = Ask("PUT /v1/users/5/mutes/7");
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(CodeOf(refused), "mute_limit");
  EXPECT_THAT(refused.body, HasSubstr("1000"));
}

TEST_F(MutesTest, APageLacksWhoIsMutedWhetherItIsLiveOrPulled) {
  FollowAuthorOfOnePost();
  Follow(5, 8);
  w_.Publish(8, 80, 2'000);
  Mute("8");
  EXPECT_THAT(Ids(Home("5")), ElementsAre("70"));
  w_.WaitUntilRebuilt(1);
  const json live = Home("5");
  EXPECT_EQ(live["state"], "live");
  EXPECT_THAT(Ids(live), ElementsAre("70"));
  EXPECT_EQ(Ask("DELETE /v1/users/5/mutes/8").status, 200);
  Tell();
  EXPECT_THAT(Ids(Home("5")), ElementsAre("80", "70"));
}

TEST_F(MutesTest, AreAskedForOnceForEachVersion) {
  FollowAuthorOfOnePost();
  MakeLive("5");
  Home("5");
  EXPECT_EQ(w_.posts.mutes_read, 0u);
  Mute("8");
  Tell();
  for (int i = 0; i < 3; ++i) Home("5");
  EXPECT_EQ(w_.posts.mutes_read, 1u);
  Mute("9");
  Tell();
  for (int i = 0; i < 3; ++i) Home("5");
  EXPECT_EQ(w_.posts.mutes_read, 2u);
}

TEST_F(MutesTest, APageSaysSoIfNobodySaysWhoIsMuted) {
  FollowAuthorOfOnePost();
  MakeLive("5");
  Mute("7");
  Tell();
  w_.posts.mutes_fail = Status::Later("mysql_0", "away");
  const json page = Home("5");
  EXPECT_THAT(Ids(page), ElementsAre("70"));
  EXPECT_EQ(page["mutes_unknown"], true);
  EXPECT_FALSE(page.contains("incomplete"));
  EXPECT_FALSE(page.contains("newest_cursor")) << "it may lack posts";
  w_.posts.mutes_fail = {};
  EXPECT_FALSE(Home("5").contains("mutes_unknown"));
}

TEST_F(MutesTest, ACountOfWhatIsNewLacksWhatThePageLacks) {
  Follow(5, 7);
  Follow(5, 8);
  for (uint64_t post = 1; post <= 6; ++post) {
    w_.Publish(post < 4 ? 7 : 8, post, 1'000 + static_cast<UnixMs>(post));
  }
  const std::string newer = "newer_than=" + CursorText(SeenCursor{{1'001, PostId{1}}});
  const auto count = [&] {
    return json::parse(Ask("GET /v1/users/5/timeline:count?" + newer).body)["count"];
  };
  const auto check = [&] {
    EXPECT_EQ(count(), 5);
    Mute("8");
    Tell();
    EXPECT_EQ(count(), 2);
    EXPECT_THAT(Ids(Home("5", "?" + newer)), ElementsAre("3", "2"));
    EXPECT_EQ(Ask("DELETE /v1/users/5/mutes/8").status, 200);
    Tell();
  };
  check();
  Home("5");
  w_.WaitUntilRebuilt(1);
  EXPECT_EQ(Home("5")["state"], "live");
  check();
}

TEST_F(MutesTest, ARowThatIsDamagedIsNamedAndReplaced) {
  FollowAuthorOfOnePost();
  auto& relations = w_.posts.mysql.relations;
  relations.PutMutes(UserId{5}, {9, {}, true});
  for (const char* line :
       {"GET /v1/users/5/mutes", "PUT /v1/users/5/mutes/7", "DELETE /v1/users/5/mutes/7"}) {
    const Response refused = Ask(line);
    EXPECT_EQ(refused.status, 500) << line;
    EXPECT_THAT(refused.body, HasSubstr("the row of user 5 in the table mute is damaged"));
    EXPECT_THAT(refused.body, HasSubstr("If-Match: *"));
  }
  const json page = Home("5");
  EXPECT_THAT(Ids(page), ElementsAre("70"));
  EXPECT_EQ(page["mutes_unknown"], true);
  const Response replaced = Ask("PUT /v1/users/5/mutes", "*", R"({"muted":["7"]})");
  EXPECT_EQ(replaced.status, 200) << replaced.body;
  EXPECT_THAT(Muted(), ElementsAre("7"));
  Tell();
  EXPECT_THAT(Ids(Home("5")), IsEmpty());
}

// A page with bodies is refilled twice: for muted posts, and for bodies that are gone.
TEST_F(MutesTest, APageWithBodiesLacksThemToo) {
  Follow(5, 7);
  Follow(5, 8);
  for (uint64_t post = 1; post <= 6; ++post) {
    w_.Publish(post % 2 == 0 ? 8 : 7, post, 1'000 + static_cast<UnixMs>(post));
    if (post != 5) w_.texts.rows[PostId{post}] = {std::string("text")};
  }
  MakeLive("5");
  Mute("8");
  Tell();
  EXPECT_THAT(Ids(Home("5", "?limit=2&expand=body")), ElementsAre("3", "1"));
}

}  // namespace
}  // namespace fanline::api
