#include "fanline/wire/relation_log.h"

#include <gmock/gmock.h>

#include "schemas/proto/relation_log.pb.h"
#include "tests/unit/seeded.h"

namespace fanline {
namespace {

using ::testing::HasSubstr;
using ::testing::VariantWith;

const EdgeWritten kFollowWritten{{.src = UserId{9},
                                  .dst = UserId{5},
                                  .ver = 41,
                                  .live = true,
                                  .pos = 1'700'000'000'000,
                                  .delivery = Delivery::kNone}};
const EdgeWritten kUnfollowWritten{{.src = UserId{9}, .dst = UserId{5}, .ver = 42}, 77};
const EdgeMirrored kMirrored{{UserId{9}, UserId{5}}, 42};
const RelationMessage kOneOfEach[] = {kFollowWritten, kUnfollowWritten, kMirrored};

std::string RefusalOf(std::string_view bytes) {
  const auto decoded = DecodeRelationMessage(bytes);
  const auto* refused = std::get_if<Rejection>(&decoded);
  return refused != nullptr ? refused->reason : "accepted";
}

void ExpectRead(std::string_view bytes, const RelationMessage& message) {
  EXPECT_THAT(DecodeRelationMessage(bytes), VariantWith<RelationMessage>(message));
}

v1::RelationLog ProtoOf(const RelationMessage& relation) {
  v1::RelationLog message;
  EXPECT_TRUE(message.ParseFromString(EncodeRelationMessage(relation)));
  return message;
}

TEST(RelationLog, KeysAreDecimal) {
  EXPECT_EQ(RelationLogKey({UserId{9}, UserId{UINT64_MAX - 1}}), "9:18446744073709551614");
}

TEST(RelationLog, KeepsNothingOfTheMessageBefore) {
  for (const auto& before : kOneOfEach) {
    for (const auto& message : kOneOfEach) {
      const std::string alone = EncodeRelationMessage(message);
      EncodeRelationMessage(before);
      EXPECT_EQ(EncodeRelationMessage(message), alone);
      ExpectRead(EncodeRelationMessage(before), before);
      ExpectRead(alone, message);
    }
  }
}

TEST(RelationLog, RefusesAVersionItDoesNotKnow) {
  for (uint32_t version : {0u, 2u, 4'000'000'000u}) {
    auto message = ProtoOf(kFollowWritten);
    message.set_schema_version(version);
    EXPECT_THAT(RefusalOf(message.SerializeAsString()),
                HasSubstr("schema_version: found " + std::to_string(version)));
  }
}

// Both messages name an edge and a version; `change` damages one of them.
template <class Change>
void ExpectRefused(Change change, const std::string& reason) {
  auto message = ProtoOf(kFollowWritten);
  change(message.mutable_written());
  EXPECT_THAT(RefusalOf(message.SerializeAsString()), HasSubstr("written." + reason));
  message = ProtoOf(kMirrored);
  change(message.mutable_mirrored());
  EXPECT_THAT(RefusalOf(message.SerializeAsString()), HasSubstr("mirrored." + reason));
}

TEST(RelationLog, RefusesWhatIsNoEdge) {
  for (uint64_t bad : {uint64_t{0}, UINT64_MAX}) {
    const std::string found = ": found " + std::to_string(bad);
    ExpectRefused([&](auto* message) { message->set_src(bad); }, "src" + found);
    ExpectRefused([&](auto* message) { message->set_dst(bad); }, "dst" + found);
  }
  ExpectRefused([](auto* message) { message->set_dst(9); }, "dst: found src itself, 9");
}

TEST(RelationLog, RefusesVersionZeroAndPositionsBefore1970) {
  ExpectRefused([](auto* message) { message->set_version(0); }, "version: found 0");
  auto message = ProtoOf(kFollowWritten);
  message.mutable_written()->set_pos_ms(-1);
  EXPECT_THAT(RefusalOf(message.SerializeAsString()), HasSubstr("written.pos_ms: found -1"));
}

TEST(RelationLog, RefusesADeliveryItDoesNotKnow) {
  for (const uint32_t unknown : {3u, 256u}) {
    auto message = ProtoOf(kFollowWritten);
    message.mutable_written()->set_delivery(unknown);
    EXPECT_THAT(RefusalOf(message.SerializeAsString()),
                HasSubstr("written.delivery: found " + std::to_string(unknown)));
  }
  EdgeWritten damaged = kFollowWritten;
  damaged.edge.delivery = static_cast<Delivery>(7);
  EXPECT_THAT(WhyRefused(damaged)->reason, HasSubstr("written.delivery: found 7"));
}

TEST(RelationLog, RefusesWhatIsNoMessage) {
  EXPECT_THAT(RefusalOf("{\"schema_version\":1}"), HasSubstr("no fanline.v1.RelationLog"));
  EXPECT_THAT(RefusalOf(""), HasSubstr("schema_version: found 0"));
  EXPECT_THAT(RefusalOf("\x08\x01"), HasSubstr("neither written nor mirrored"));
}

RelationMessage RandomMessage(fanline::testing::Seeded& random) {
  const EdgeKey key{UserId{random.Id()}, UserId{random.Id()}};
  if (key.src == key.dst) return RandomMessage(random);
  if (random.OneIn(2)) return EdgeMirrored{key, random.Id()};
  return EdgeWritten{
      EdgeOf(key, {random.Id(), random.OneIn(2), static_cast<UnixMs>(random.Id() >> 1),
                   *DeliveryOf(random.Below(3))}),
      random.OneIn(2) ? 0 : random.Id()};
}

TEST(RelationLog, ReadsBackAnyMessageAndRefusesEveryTruncation) {
  fanline::testing::Seeded random;
  for (int round = 0; round < 20'000; ++round) {
    const RelationMessage message = RandomMessage(random);
    const std::string whole = EncodeRelationMessage(message);
    ExpectRead(whole, message);
    ASSERT_FALSE(HasFailure());
    for (size_t size = 0; size < whole.size() && round % 10 == 0; ++size) {
      ASSERT_NE(RefusalOf(std::string_view(whole).substr(0, size)), "accepted") << size;
    }
  }
}

}  // namespace
}  // namespace fanline
