#include <gmock/gmock.h>

#include "fanline/model/item.h"
#include "tests/unit/wire/event_examples.h"

namespace fanline {
namespace {

using namespace fanline::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Lt;
using ::testing::SizeIs;

std::string HiddenWithVersion(const std::string& json) {
  return R"({"schema_version":1,"type":"post.hidden","post_id":"77","author_id":"5","version":)" +
         json + "}";
}

TEST(EventJson, IsWhatTheProducersPageShows) {
  EXPECT_EQ(EncodeEventJson(kPublished),
            R"({"schema_version":1,"type":"post.published","post_id":"77","author_id":"5",)"
            R"("created_at_ms":1700000000000})");
  EXPECT_EQ(EncodeEventJson(kDeleted),
            R"({"schema_version":1,"type":"post.deleted","post_id":"77","author_id":"5"})");
  EXPECT_EQ(
      EncodeEventJson(kHidden),
      R"({"schema_version":1,"type":"post.hidden","post_id":"77","author_id":"5","version":3})");
}

TEST(EventJson, TakesNumbersAsIntegersOrAsStrings) {
  EXPECT_EQ(Accepted(PublishedWith("post_id", "77")), kPublished);
  EXPECT_EQ(Accepted(PublishedWith("author_id", "5")), kPublished);
  EXPECT_EQ(Accepted(PublishedWith("created_at_ms", "\"1700000000000\"")), kPublished);
  EXPECT_EQ(Accepted(PublishedWith("schema_version", "\"1\"")), kPublished);
  EXPECT_EQ(Accepted(HiddenWithVersion("\"18446744073709551615\"")).version, UINT64_MAX);
}

TEST(EventJson, IgnoresFieldsItDoesNotKnowOrThisTypeDoesNotNeed) {
  EXPECT_EQ(Accepted(R"({"type":"post.deleted","title":{"type":"x","post_id":0},"tags":[1,[]],
                         "version":null,"created_at_ms":"never","draft":false,
                         "author_id":"5","post_id":"77","schema_version":1})"),
            kDeleted);
}

TEST(EventJson, OfARepostNamesItsOriginal) {
  FeedEvent repost = kPublished;
  repost.repost_of = {PostId{70}, UserId{6}};
  EXPECT_EQ(EncodeEventJson(repost),
            R"({"schema_version":1,"type":"post.published","post_id":"77","author_id":"5",)"
            R"("created_at_ms":1700000000000,"repost_of":{"post_id":"70","author_id":"6"}})");
  EXPECT_EQ(Accepted(PublishedWith("repost_of", R"({"author_id":6,"post_id":70,"more":{}})")),
            repost);
  EXPECT_EQ(Accepted(R"({"schema_version":1,"type":"post.deleted","post_id":"77","author_id":"5",
                         "repost_of":{"post_id":"70"}})"),
            kDeleted);
}

// Of the top level, it is a field that nobody knows.
TEST(EventJson, TakesNoNameWithADotForAFieldOfAnObject) {
  FeedEvent repost = kPublished;
  repost.repost_of = {PostId{70}, UserId{6}};
  EXPECT_EQ(Accepted(R"({"schema_version":1,"type":"post.published","post_id":"77","author_id":"5",
                         "created_at_ms":1700000000000,"repost_of.post_id":"71",
                         "repost_of":{"post_id":"70","author_id":"6"},"repost_of.author_id":"7"})"),
            repost);
}

TEST(EventJson, RefusesAnOriginalThatIsNoneAndSaysWhatItFound) {
  const std::pair<const char*, const char*> table[] = {
      {"{}", "repost_of.post_id: missing; send an id"},
      {R"({"post_id":"70"},"repost_of.author_id":"6")", "repost_of.author_id: missing; send an id"},
      {R"({"post_id":"0","author_id":"6"})", "repost_of.post_id: found \"0\"; send an id"},
      {R"({"post_id":{},"author_id":"6"})", "repost_of.post_id: found an object; send an id"},
      {R"({"post_id":"77","author_id":"5"})",
       "repost_of.post_id: found 77, the repost's own id; send the id of the post that it shows"},
      {R"({"post_id":"70","post_id":"71","author_id":"6"})",
       "key \"repost_of.post_id\": found twice"},
      {"null", "repost_of: found null; send an object with post_id and author_id"},
      {"\"an object\"", "repost_of: found \"an object\"; send an object"},
      {R"([{"post_id":"70","author_id":"6"}])", "repost_of: found an array; send an object"},
      {"70", "repost_of: found 70; send an object"},
  };
  for (const auto& [json, reason] : table) {
    EXPECT_THAT(ReasonOf(PublishedWith("repost_of", json)), HasSubstr(reason)) << json;
  }
}

TEST(EventJson, RefusesAnyFieldThatIsMissingByName) {
  for (const char* field : {"schema_version", "type", "post_id", "author_id", "created_at_ms"}) {
    EXPECT_THAT(ReasonOf(PublishedWith(field, "")),
                AllOf(HasSubstr(std::string(field) + ": missing; send ")));
  }
  EXPECT_THAT(
      ReasonOf(R"({"schema_version":1,"type":"post.edited","post_id":"7","author_id":"5"})"),
      HasSubstr("version: missing; send "));
}

TEST(EventJson, RefusesWhatIsNoIdAndSaysWhatItFound) {
  const std::pair<const char*, const char*> table[] = {
      {"0", "found 0;"},
      {"-1", "found -1;"},
      {"77.0", "found 77.0;"},
      {"7e1", "found 7e1;"},
      {"null", "found null;"},
      {"true", "found true;"},
      {"{\"id\":77}", "found an object;"},
      {"[77]", "found an array;"},
      {"\"\"", "found \"\";"},
      {"\"0\"", "found \"0\";"},
      {"\"007\"", "found \"007\";"},
      {"\" 77\"", "found \" 77\";"},
      {"\"+77\"", "found \"+77\";"},
      {"\"18446744073709551615\"", "found \"18446744073709551615\";"},
      {"\"18446744073709551616\"", "found \"18446744073709551616\";"},
  };
  for (const char* field : {"post_id", "author_id"}) {
    for (const auto& [json, found] : table) {
      EXPECT_THAT(ReasonOf(PublishedWith(field, json)),
                  AllOf(HasSubstr(std::string(field) + ": " + found),
                        HasSubstr("send an id from 1 to 18446744073709551614")))
          << json;
    }
  }
}

TEST(EventJson, RefusesNumbersThatADoubleMayHaveRounded) {
  EXPECT_EQ(Accepted(PublishedWith("post_id", "9007199254740991")).post, PostId{9007199254740991});
  EXPECT_EQ(Accepted(PublishedWith("post_id", "\"9007199254740993\"")).post,
            PostId{9007199254740993});
  for (const char* rounded : {"9007199254740992", "9007199254740993", "18446744073709551615"}) {
    EXPECT_THAT(ReasonOf(PublishedWith("post_id", rounded)),
                AllOf(HasSubstr(rounded), HasSubstr("as a string of digits")));
  }
  EXPECT_THAT(ReasonOf(HiddenWithVersion("9007199254740993")), HasSubstr("as a string of digits"));
}

TEST(EventJson, RefusesTimesThatARedisScoreCannotHold) {
  EXPECT_EQ(Accepted(PublishedWith("created_at_ms", "1")).created_at, 1);
  EXPECT_EQ(Accepted(PublishedWith("created_at_ms", "9007199254740991")).created_at, kMaxCreatedAt);
  for (const char* bad : {"0", "-5", "1.5", "\"9007199254740992\"", "\"2023-11-14T22:13:20Z\""}) {
    EXPECT_THAT(ReasonOf(PublishedWith("created_at_ms", bad)),
                AllOf(HasSubstr("created_at_ms: found "), HasSubstr("milliseconds since 1970")));
  }
}

TEST(EventJson, RefusesAVersionBelowOne) {
  EXPECT_THAT(ReasonOf(HiddenWithVersion("0")), HasSubstr("version: found 0;"));
  EXPECT_THAT(ReasonOf(HiddenWithVersion("-1")), HasSubstr("version: found -1;"));
}

TEST(EventJson, RefusesAnotherSchemaVersionBeforeItLooksAtTheRest) {
  EXPECT_THAT(ReasonOf(R"({"schema_version":2,"type":"post.teleported"})"),
              HasSubstr("schema_version: found 2; send 1"));
}

TEST(EventJson, RefusesATypeItDoesNotKnowAndNamesThoseItKnows) {
  for (const char* bad : {"\"post.teleported\"", "\"Post.Published\"", "\"\"", "null", "7"}) {
    EXPECT_THAT(ReasonOf(PublishedWith("type", bad)),
                AllOf(HasSubstr("type: found "),
                      HasSubstr("send one of post.published, post.deleted, post.hidden, "
                                "post.unhidden, post.edited")));
  }
}

TEST(EventJson, RefusesAKeyGivenTwice) {
  EXPECT_THAT(ReasonOf(R"({"schema_version":1,"post_id":"7","post_id":"8"})"),
              HasSubstr("key \"post_id\": found twice"));
  EXPECT_THAT(ReasonOf(R"({"extra":1,"extra":1})"), HasSubstr("key \"extra\": found twice"));
  EXPECT_THAT(ReasonOf(R"({"extra":1,"\u0065xtra":1})"), HasSubstr("key \"extra\": found twice"));
}

TEST(EventJson, RefusesWhatIsNotOneJsonObject) {
  const std::string good = EncodeEventJson(kPublished);
  for (const std::string& bad :
       {good + "x", good + good, good.substr(0, good.size() - 1), std::string("[]"),
        std::string("\"text\""), std::string("17"), std::string("null"), std::string("{'a':1}"),
        std::string("{\"a\":1,}"), std::string("{a:1}"), std::string("{\"a\":1} // comment"),
        std::string("{\"a\":1e999}"), std::string("{\"a\":\"\xff\"}"), std::string("   ")}) {
    EXPECT_THAT(ReasonOf(bad, kJsonContentType),
                AllOf(HasSubstr("value: found "), HasSubstr("send one JSON object")))
        << bad;
  }
}

// A reason becomes a header of the dead letter, which has 64 KB more room than the event.
TEST(EventJson, AReasonNeverHoldsANumberAsLongAsTheMessage) {
  const std::string digits = "1." + std::string(60'000, '1');
  for (const std::string& value :
       {digits, PublishedWith("post_id", digits), PublishedWith("type", digits)}) {
    EXPECT_THAT(ReasonOf(value, kJsonContentType),
                AllOf(HasSubstr("found 1.11111"), SizeIs(Lt(300u))));
  }
}

TEST(EventJson, SurvivesNestingAsDeepAsTheSizeAllows) {
  const std::string deep(60'000, '[');
  EXPECT_THAT(ReasonOf("{\"a\":" + deep), HasSubstr("no JSON"));
}

}  // namespace
}  // namespace fanline
