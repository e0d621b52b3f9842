#include <gmock/gmock.h>

#include "fanline/model/item.h"
#include "schemas/proto/feed_event.pb.h"
#include "tests/unit/wire/event_examples.h"

namespace fanline {
namespace {

using namespace fanline::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

v1::FeedEvent ProtoOf(const FeedEvent& event) {
  v1::FeedEvent message;
  EXPECT_TRUE(message.ParseFromString(EncodeEventProto(event)));
  return message;
}

TEST(EventProto, TakesZeroForMissingAndNamesTheField) {
  const auto without = [](const FeedEvent& event, auto&& clear) {
    auto message = ProtoOf(event);
    clear(message);
    return ReasonOf(message.SerializeAsString());
  };
  EXPECT_THAT(without(kPublished, [](auto& m) { m.clear_schema_version(); }),
              HasSubstr("schema_version: missing; send 1"));
  EXPECT_THAT(without(kPublished, [](auto& m) { m.mutable_published()->clear_post_id(); }),
              HasSubstr("post_id: missing; send an id"));
  EXPECT_THAT(without(kPublished, [](auto& m) { m.mutable_published()->clear_author_id(); }),
              HasSubstr("author_id: missing; send an id"));
  EXPECT_THAT(without(kPublished, [](auto& m) { m.mutable_published()->clear_created_at_ms(); }),
              HasSubstr("created_at_ms: missing; send milliseconds"));
  EXPECT_THAT(without(kDeleted, [](auto& m) { m.mutable_deleted()->clear_author_id(); }),
              HasSubstr("author_id: missing"));
  EXPECT_THAT(without(kHidden, [](auto& m) { m.mutable_hidden()->clear_version(); }),
              HasSubstr("version: missing"));
  EXPECT_THAT(without(kUnhidden, [](auto& m) { m.mutable_unhidden()->clear_version(); }),
              HasSubstr("version: missing"));
  EXPECT_THAT(without(kEdited, [](auto& m) { m.mutable_edited()->clear_version(); }),
              HasSubstr("version: missing"));
  EXPECT_THAT(without(kEdited, [](auto& m) { m.clear_event(); }),
              HasSubstr("event: missing; send one of post.published"));
}

TEST(EventProto, RefusesNumbersOutOfRange) {
  auto message = ProtoOf(kPublished);
  message.mutable_published()->set_post_id(UINT64_MAX);
  EXPECT_THAT(ReasonOf(message.SerializeAsString()),
              HasSubstr("post_id: found 18446744073709551615; send an id"));
  message = ProtoOf(kPublished);
  message.mutable_published()->set_created_at_ms(-1);
  EXPECT_THAT(ReasonOf(message.SerializeAsString()), HasSubstr("created_at_ms: found -1; send"));
  message.mutable_published()->set_created_at_ms(kMaxCreatedAt + 1);
  EXPECT_THAT(ReasonOf(message.SerializeAsString()),
              HasSubstr("created_at_ms: found 9007199254740992; send"));
  message = ProtoOf(kPublished);
  message.set_schema_version(2);
  EXPECT_THAT(ReasonOf(message.SerializeAsString()), HasSubstr("schema_version: found 2; send 1"));
}

TEST(EventProto, RefusesAnEventOfANewerSchemaByItsFieldNumber) {
  // schema_version 1, field 7 empty
  EXPECT_THAT(ReasonOf(std::string_view("\x08\x01\x3a\x00", 4)),
              HasSubstr("event: found field 7;"));
}

TEST(EventProto, RefusesBytesThatAreNoMessage) {
  EXPECT_THAT(ReasonOf("\xff\xff\xff"),
              AllOf(HasSubstr("value: found no Protobuf"), HasSubstr("\"\\xff\\xff\\xff\"")));
}

}  // namespace
}  // namespace fanline
