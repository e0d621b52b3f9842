#include <gmock/gmock.h>

#include "fanline/model/bucket.h"
#include "fanline/model/hint.h"
#include "schemas/proto/hint.pb.h"
#include "tests/unit/seeded.h"

namespace fanline {
namespace {

using ::testing::_;
using ::testing::HasSubstr;
using ::testing::VariantWith;

const Hint kPost = Hint::OfPost(UserId{5}, PostId{77});
const Hint kSampled = Hint::OfPost(
    UserId{5}, PostId{77},
    DeliverySample{.part = 3, .parts = 16, .published_at = 1'700'000'000'000, .followers = 200});
const Hint kSync = Hint::OfSync(UserId{9}, UserId{5});

std::string ReasonOf(std::string_view bytes) {
  const auto decoded = DecodeHint(bytes);
  const auto* refused = std::get_if<Rejection>(&decoded);
  return refused != nullptr ? refused->reason : "accepted";
}

v1::Hint ProtoOf(const Hint& hint) {
  v1::Hint message;
  EXPECT_TRUE(message.ParseFromString(EncodeHint(hint)));
  return message;
}

TEST(HintCodec, KeepsNothingOfTheHintWrittenBefore) {
  const std::string post = EncodeHint(kPost), sync = EncodeHint(kSync);
  EncodeHint(kSampled);
  EXPECT_EQ(EncodeHint(kPost), post);
  EncodeHint(kSampled);
  EXPECT_EQ(EncodeHint(kSync), sync);
  EXPECT_EQ(EncodeHint(kPost), post);
}

TEST(HintCodec, RefusesAVersionItDoesNotKnowAndTellsANewerOneFromWhatIsBroken) {
  const auto is_newer = [](const std::string& bytes) {
    return std::get<Rejection>(DecodeHint(bytes)).newer;
  };
  for (uint32_t version : {0u, kHintSchemaVersion + 1, 4'000'000'000u}) {
    auto message = ProtoOf(kPost);
    message.set_schema_version(version);
    const std::string bytes = message.SerializeAsString();
    EXPECT_THAT(ReasonOf(bytes), HasSubstr("schema_version: found " + std::to_string(version)));
    EXPECT_EQ(is_newer(bytes), version > 0);
  }
  EXPECT_FALSE(is_newer("no hint at all"));
}

TEST(HintCodec, RefusesIdsThatAreMissingOrInvalid) {
  for (uint64_t bad : {uint64_t{0}, UINT64_MAX}) {
    const std::string found = ": found " + std::to_string(bad);
    auto message = ProtoOf(kPost);
    message.mutable_post()->set_post_id(bad);
    EXPECT_THAT(ReasonOf(message.SerializeAsString()), HasSubstr("post.post_id" + found));
    message = ProtoOf(kPost);
    message.mutable_post()->set_author_id(bad);
    EXPECT_THAT(ReasonOf(message.SerializeAsString()), HasSubstr("post.author_id" + found));
    message = ProtoOf(kSync);
    message.mutable_sync()->set_reader_id(bad);
    EXPECT_THAT(ReasonOf(message.SerializeAsString()), HasSubstr("sync.reader_id" + found));
    message = ProtoOf(kSync);
    message.mutable_sync()->set_author_id(bad);
    EXPECT_THAT(ReasonOf(message.SerializeAsString()), HasSubstr("sync.author_id" + found));
  }
}

TEST(HintCodec, RefusesASampleThatIsNoPartOfAPublish) {
  const auto with = [](uint32_t part, uint32_t parts, int64_t published_at) {
    auto message = ProtoOf(kSampled);
    auto* sample = message.mutable_post()->mutable_sample();
    sample->set_part(part);
    sample->set_parts(parts);
    sample->set_published_at_ms(published_at);
    return message.SerializeAsString();
  };
  EXPECT_THAT(DecodeHint(with(kBuckets - 1, kBuckets, 0)), VariantWith<Hint>(_));
  EXPECT_THAT(DecodeHint(with(kBuckets - 1, 1, 0)), VariantWith<Hint>(_)) << "the last range alone";
  EXPECT_THAT(ReasonOf(with(kBuckets, 16, 1)), HasSubstr("post.sample: found part 1024 of 16"));
  EXPECT_THAT(ReasonOf(with(0, 0, 1)), HasSubstr("part 0 of 0"));
  EXPECT_THAT(ReasonOf(with(0, kBuckets + 1, 1)), HasSubstr("part 0 of 1025"));
  EXPECT_THAT(ReasonOf(with(0, 1, -1)), HasSubstr("published at -1"));
}

TEST(HintCodec, RefusesWhatIsNoHint) {
  EXPECT_THAT(ReasonOf("{\"schema_version\":1}"), HasSubstr("no fanline.v1.Hint"));
  EXPECT_THAT(ReasonOf(""), HasSubstr("schema_version: found 0"));
  EXPECT_THAT(ReasonOf("\x08\x01"), HasSubstr("neither post nor sync"));
}

Hint RandomHint(fanline::testing::Seeded& random) {
  if (random.OneIn(3)) return Hint::OfSync(UserId{random.Id()}, UserId{random.Id()});
  if (random.OneIn(2)) return Hint::OfPost(UserId{random.Id()}, PostId{random.Id()});
  const auto parts = static_cast<uint32_t>(1 + random.Below(kBuckets));
  return Hint::OfPost(UserId{random.Id()}, PostId{random.Id()},
                      DeliverySample{static_cast<uint32_t>(random.Below(kBuckets)), parts,
                                     static_cast<UnixMs>(random.Id() >> 1), random.Bits()});
}

TEST(HintCodec, ReadsBackAnyHintAndRefusesEveryTruncation) {
  fanline::testing::Seeded random;
  for (int round = 0; round < 20'000; ++round) {
    const Hint hint = RandomHint(random);
    const std::string whole = EncodeHint(hint);
    ASSERT_THAT(DecodeHint(whole), VariantWith<Hint>(hint));
    for (size_t size = 0; size < whole.size() && round % 10 == 0; ++size) {
      ASSERT_NE(ReasonOf(std::string_view(whole).substr(0, size)), "accepted") << size;
    }
  }
}

}  // namespace
}  // namespace fanline
