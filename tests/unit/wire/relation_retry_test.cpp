#include "fanline/wire/relation_retry.h"

#include <gmock/gmock.h>

#include "schemas/proto/relation_retry.pb.h"

namespace fanline {
namespace {

const RelationRetry kRetry{{UserId{7}, UserId{8}},
                           {{1'700'000'000'000'000, true, 5, Delivery::kNone}, true, 9},
                           1'700'000'000'000,
                           3,
                           2};

TEST(RelationRetry, ComesBackAsItWas) {
  for (const EdgeClaim& claim :
       {kRetry.claim, EdgeClaim{{7, false, 5}, true}, EdgeClaim{{7}, false}}) {
    RelationRetry retry = kRetry;
    retry.claim = claim;
    EXPECT_THAT(DecodeRelationRetry(EncodeRelationRetry(retry)),
                ::testing::VariantWith<RelationRetry>(retry));
  }
}

// It met two rows that differ, and knows of no change.
TEST(RelationRetry, AnEntryOfTheFullScanMayNameNoVersion) {
  RelationRetry found = kRetry;
  found.net = Net::kScan;
  found.claim = {};
  EXPECT_EQ(std::get<RelationRetry>(DecodeRelationRetry(EncodeRelationRetry(found))), found);
}

TEST(RelationRetry, WhatIsNoEntryIsRefusedWithTheReason) {
  const auto refuse = [](auto change) {
    v1::RelationRetry message;
    message.ParseFromString(EncodeRelationRetry(kRetry));
    change(message);
    const auto decoded = DecodeRelationRetry(message.SerializeAsString());
    const std::string reason = std::get<Rejection>(decoded).reason;
    return reason.substr(0, reason.find(':'));
  };
  EXPECT_EQ(refuse([](auto& message) { message.set_schema_version(2); }), "schema_version");
  EXPECT_EQ(refuse([](auto& message) { message.set_src(0); }), "src");
  EXPECT_EQ(refuse([](auto& message) { message.set_dst(UINT64_MAX); }), "dst");
  EXPECT_EQ(refuse([](auto& message) { message.set_dst(7); }), "dst");
  EXPECT_EQ(refuse([](auto& message) { message.set_version(0); }), "version");
  EXPECT_EQ(refuse([](auto& message) { message.set_pos_ms(-1); }), "pos_ms");
  EXPECT_EQ(refuse([](auto& message) { message.set_delivery(3); }), "delivery");
  EXPECT_EQ(refuse([](auto& message) { message.set_due_ms(-1); }), "due_ms");
  EXPECT_EQ(refuse([](auto& message) { message.set_net(3); }), "net");
  EXPECT_NE(std::get<Rejection>(DecodeRelationRetry("\xff")).reason, "");
}

}  // namespace
}  // namespace fanline
