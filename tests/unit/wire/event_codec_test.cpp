#include "fanline/wire/event_codec.h"

#include <gmock/gmock.h>

#include "fanline/model/item.h"
#include "tests/unit/seeded.h"
#include "tests/unit/wire/event_examples.h"

namespace fanline {
namespace {

using namespace fanline::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(EventCodec, ChoosesTheFormByTheContentType) {
  const std::string json = EncodeEventJson(kPublished), proto = EncodeEventProto(kPublished);
  for (const char* type :
       {"application/json", "Application/JSON; charset=utf-8", " application/json "}) {
    EXPECT_EQ(Accepted(json, type), kPublished) << type;
    EXPECT_THAT(ReasonOf(proto, type), HasSubstr("no JSON at byte 1")) << type;
  }
  for (const char* type : {"application/x-protobuf", "application/protobuf",
                           "application/x-protobuf; messageType=\"fanline.v1.FeedEvent\""}) {
    EXPECT_EQ(Accepted(proto, type), kPublished) << type;
    EXPECT_THAT(ReasonOf(json, type), HasSubstr("no Protobuf")) << type;
  }
}

TEST(EventCodec, LooksAtTheFirstByteWhenTheContentTypeSaysNothing) {
  for (const char* type : {"", "  ", "application/octet-stream", "text/plain"}) {
    for (const auto& event : kOneOfEach) {
      EXPECT_EQ(Accepted(EncodeEventJson(event), type), event);
      for (const char blank : {' ', '\t', '\r', '\n'}) {
        EXPECT_EQ(Accepted(blank + EncodeEventJson(event), type), event);
      }
      EXPECT_EQ(Accepted(EncodeEventProto(event), type), event);
    }
  }
}

TEST(EventCodec, RefusesAFormItDoesNotRead) {
  EXPECT_THAT(ReasonOf(EncodeEventJson(kPublished), "application/avro"),
              AllOf(HasSubstr("header content-type: found \"application/avro\""),
                    HasSubstr("send application/json, application/x-protobuf")));
}

TEST(EventCodec, RefusesAnEmptyValueAndOneBeyondItsBound) {
  EXPECT_THAT(ReasonOf(""), HasSubstr("value: missing; send an event"));
  const auto padded = [](size_t size) {
    std::string json = EncodeEventJson(kPublished);
    return json + std::string(size - json.size(), ' ');
  };
  EXPECT_EQ(Accepted(padded(kMaxEventBytes)), kPublished);
  EXPECT_THAT(ReasonOf(padded(kMaxEventBytes + 1)),
              HasSubstr("value: found 65537 bytes; send at most 65536"));
}

bool IsOneShortPrintableLine(const std::string& reason) {
  return !reason.empty() && reason.size() < 300 &&
         reason.find_first_not_of(
             " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`"
             "abcdefghijklmnopqrstuvwxyz{|}~") == std::string::npos;
}

TEST(EventCodec, ShortensAndEscapesWhatItQuotes) {
  const std::string line_breaks = "\"a\\n\\\"b\\u00e4" + std::string(500, 'x') + "\"";
  const std::string reason = ReasonOf(PublishedWith("post_id", line_breaks));
  EXPECT_THAT(reason, HasSubstr(R"(found "a\x0a\"b\xc3\xa4xxx)"));
  EXPECT_THAT(reason, HasSubstr("x\"...;"));
  EXPECT_TRUE(IsOneShortPrintableLine(reason)) << reason;
  EXPECT_TRUE(IsOneShortPrintableLine(ReasonOf(PublishedWith("post_id", std::string(5000, '7')))));
  EXPECT_TRUE(IsOneShortPrintableLine(
      ReasonOf("{\"" + std::string(5000, 'k') + "\":1,\"" + std::string(5000, 'k') + "\":1}")));
  EXPECT_TRUE(IsOneShortPrintableLine(ReasonOf("{}", std::string(5000, '\n') + "x")));
}

FeedEvent RandomEvent(Seeded& random) {
  FeedEvent event{.kind = static_cast<EventKind>(random.Below(kEventKinds)),
                  .post = PostId{random.Id()},
                  .author = UserId{random.Id()}};
  const EventNumber number = TraitsOf(event.kind).number;
  if (number == EventNumber::kCreatedAt) {
    event.created_at = static_cast<UnixMs>(1 + (random.Id() >> 11) % kMaxCreatedAt);
    if (random.Below(2) == 0) event.repost_of = {PostId{random.Id()}, UserId{random.Id()}};
    if (event.repost_of.post == event.post) event.repost_of = {};
  } else if (number == EventNumber::kVersion) {
    event.version = random.Id();
  }
  return event;
}

TEST(EventCodec, ReadsBackAnyEventInBothFormsAndNoTruncationOfOne) {
  Seeded random;
  for (int round = 0; round < 5'000; ++round) {
    const FeedEvent event = RandomEvent(random);
    for (const auto& [whole, type] : {std::pair(EncodeEventJson(event), kJsonContentType),
                                      {EncodeEventProto(event), kProtoContentType}}) {
      ASSERT_EQ(Accepted(whole), event);
      ASSERT_EQ(Accepted(whole, type), event);
      for (size_t size = 0; size < whole.size() && round % 10 == 0; ++size) {
        const auto decoded = DecodeEvent(std::string_view(whole).substr(0, size), "");
        ASSERT_TRUE(std::holds_alternative<Rejection>(decoded)) << size << " of " << whole;
      }
    }
  }
}

}  // namespace
}  // namespace fanline
