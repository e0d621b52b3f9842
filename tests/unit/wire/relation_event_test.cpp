// What relation events add to the forms that event_codec_test, event_json_test and event_proto_test
// hold for all events.
#include "fanline/wire/relation_event.h"

#include <gmock/gmock.h>

#include "schemas/proto/relation_event.pb.h"
#include "tests/producers/encoders.h"
#include "tests/unit/seeded.h"

namespace fanline {
namespace {

using namespace fanline::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

const RelationEvent kFollow{RelationEventKind::kFollow, {UserId{9}, UserId{5}}, 3, {}};
const RelationEvent kUnfollow{RelationEventKind::kUnfollow, {UserId{9}, UserId{5}}, 4, {}};

RelationEvent Accepted(std::string_view value, std::string_view content_type = {}) {
  const auto decoded = DecodeRelationEvent(value, content_type);
  if (const auto* refused = std::get_if<Rejection>(&decoded)) {
    ADD_FAILURE() << "refused: " << refused->reason;
    return {};
  }
  return std::get<RelationEvent>(decoded);
}

std::string ReasonOf(std::string_view value, std::string_view content_type = {}) {
  const auto decoded = DecodeRelationEvent(value, content_type);
  if (const auto* refused = std::get_if<Rejection>(&decoded)) return refused->reason;
  ADD_FAILURE() << "accepted: " << value;
  return "accepted";
}

// A good follow in JSON, with the value of one field replaced; "" leaves the field out.
std::string FollowWith(const std::string& field, const std::string& json) {
  std::string text = "{";
  for (const auto& [name, value] :
       std::initializer_list<std::pair<std::string, std::string>>{{"schema_version", "1"},
                                                                  {"type", "\"relation.follow\""},
                                                                  {"src", "\"9\""},
                                                                  {"dst", "\"5\""},
                                                                  {"version", "3"}}) {
    const std::string& chosen = name == field ? json : value;
    if (chosen.empty()) continue;
    text += (text.size() > 1 ? "," : "") + ("\"" + name + "\":") + chosen;
  }
  return text + "}";
}

std::string FollowProto(uint64_t src, uint64_t dst, uint64_t version) {
  v1::RelationEvent message;
  message.set_schema_version(1);
  message.mutable_follow()->set_src(src);
  message.mutable_follow()->set_dst(dst);
  message.mutable_follow()->set_version(version);
  return message.SerializeAsString();
}

TEST(RelationEvent, IsOneJsonObject) {
  EXPECT_EQ(EncodeRelationEventJson(kFollow),
            R"({"schema_version":1,"type":"relation.follow","src":"9","dst":"5","version":3})");
  EXPECT_EQ(EncodeRelationEventJson(kUnfollow),
            R"({"schema_version":1,"type":"relation.unfollow","src":"9","dst":"5","version":4})");
}

TEST(RelationEvent, RefusesAnyFieldThatIsMissingByNameInBothForms) {
  for (const char* field : {"schema_version", "type", "src", "dst", "version"}) {
    EXPECT_THAT(ReasonOf(FollowWith(field, "")), HasSubstr(std::string(field) + ": missing; send"));
  }
  EXPECT_THAT(ReasonOf(FollowProto(0, 5, 3)), HasSubstr("src: missing; send an id"));
  EXPECT_THAT(ReasonOf(FollowProto(9, 0, 3)), HasSubstr("dst: missing; send an id"));
  EXPECT_THAT(ReasonOf(FollowProto(9, 5, 0)), HasSubstr("version: missing; send the edge's own"));
  EXPECT_THAT(ReasonOf("\x08\x01"),
              HasSubstr("event: missing; send one of relation.follow, relation.unfollow"));
}

TEST(RelationEvent, RefusesWhatIsNoEdgeInBothForms) {
  for (const char* field : {"src", "dst"}) {
    for (const char* bad : {"0", "\"007\"", "\"18446744073709551615\"", "null", "7.0"}) {
      EXPECT_THAT(ReasonOf(FollowWith(field, bad)),
                  AllOf(HasSubstr(std::string(field) + ": found "),
                        HasSubstr("send an id from 1 to 18446744073709551614")));
    }
  }
  EXPECT_THAT(ReasonOf(FollowProto(UINT64_MAX, 5, 3)), HasSubstr("src: found 1844"));
  for (const std::string& self : {FollowWith("dst", "\"9\""), FollowProto(9, 9, 3)}) {
    EXPECT_THAT(ReasonOf(self),
                HasSubstr("dst: found 9, which is src too; send another user's id"));
  }
}

TEST(RelationEvent, RefusesOtherVersionsAndTypes) {
  EXPECT_THAT(ReasonOf(FollowWith("version", "0")), HasSubstr("version: found 0;"));
  EXPECT_THAT(ReasonOf(FollowWith("schema_version", "2")),
              HasSubstr("schema_version: found 2; send 1"));
  EXPECT_THAT(ReasonOf(FollowWith("type", "\"post.deleted\"")),
              HasSubstr("type: found \"post.deleted\"; send one of relation.follow, "
                        "relation.unfollow"));
}

TEST(RelationEvent, NamesTheMessageItWants) {
  EXPECT_THAT(ReasonOf("\xff\xff"), HasSubstr("send a whole fanline.v1.RelationEvent"));
}

TEST(RelationEvent, AFollowMayNameItsDelivery) {
  EXPECT_EQ(Accepted(FollowWith("", "")).delivery, std::nullopt);
  EXPECT_EQ(Accepted(FollowProto(9, 5, 3)).delivery, std::nullopt);
  const auto with = [](const std::string& delivery) {
    return FollowWith("version", "3,\"delivery\":" + delivery);
  };
  EXPECT_EQ(Accepted(with("\"no_reposts\"")).delivery, Delivery::kNoReposts);
  for (const char* bad : {"\"None\"", "2", "null", "\"\""}) {
    EXPECT_THAT(ReasonOf(with(bad)), AllOf(HasSubstr("delivery: found "),
                                           HasSubstr("; send one of all, no_reposts, none")));
  }
  v1::RelationEvent message;
  ASSERT_TRUE(message.ParseFromString(FollowProto(9, 5, 3)));
  message.mutable_follow()->set_delivery(static_cast<v1::RelationDelivery>(4));
  EXPECT_THAT(ReasonOf(message.SerializeAsString()),
              HasSubstr("delivery: found 4; send one of all, no_reposts, none"));
}

RelationEvent RandomEvent(Seeded& random) {
  const EdgeKey edge{UserId{random.Id()}, UserId{random.Id()}};
  if (edge.src == edge.dst) return RandomEvent(random);
  RelationEvent event{static_cast<RelationEventKind>(random.Below(2)), edge, random.Id(), {}};
  if (event.kind == RelationEventKind::kFollow) event.delivery = DeliveryOf(random.Below(4));
  return event;
}

TEST(RelationEvent, ReadsBackAnyEventAndNoTruncationOfOne) {
  Seeded random;
  for (int round = 0; round < 1'000; ++round) {
    const RelationEvent event = RandomEvent(random);
    for (const auto& [whole, type] :
         {std::pair(EncodeRelationEventJson(event), "application/json"),
          {EncodeRelationEventProto(event), "application/x-protobuf"}}) {
      ASSERT_EQ(Accepted(whole), event);
      ASSERT_EQ(Accepted(whole, type), event);
      for (size_t size = 0; size < whole.size(); ++size) {
        const auto decoded = DecodeRelationEvent(std::string_view(whole).substr(0, size), "");
        ASSERT_TRUE(std::holds_alternative<Rejection>(decoded)) << size << " of " << whole;
      }
    }
  }
}

}  // namespace
}  // namespace fanline
