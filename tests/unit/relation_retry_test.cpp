#include "fanline/relation_retry.h"

#include <gtest/gtest.h>

#include "schemas/proto/relation_retry.pb.h"

namespace fanline {
namespace {

const RelationRetry kRetry{{UserId{7}, UserId{8}}, 1'700'000'000'000'000, 1'700'000'000'000, 3};

TEST(RelationRetry, ComesBackAsItWas) {
  std::string why;
  EXPECT_EQ(DecodeRelationRetry(EncodeRelationRetry(kRetry), &why), kRetry);
  EXPECT_EQ(why, "");
}

TEST(RelationRetry, WhatIsNoEntryIsRefusedWithTheReason) {
  const auto refuse = [](auto change) {
    v1::RelationRetry message;
    message.ParseFromString(EncodeRelationRetry(kRetry));
    change(message);
    std::string why;
    EXPECT_EQ(DecodeRelationRetry(message.SerializeAsString(), &why), std::nullopt);
    return why.substr(0, why.find(':'));
  };
  EXPECT_EQ(refuse([](auto& message) { message.set_schema_version(2); }), "schema_version");
  EXPECT_EQ(refuse([](auto& message) { message.set_src(0); }), "src");
  EXPECT_EQ(refuse([](auto& message) { message.set_dst(UINT64_MAX); }), "dst");
  EXPECT_EQ(refuse([](auto& message) { message.set_dst(7); }), "dst");
  EXPECT_EQ(refuse([](auto& message) { message.set_version(0); }), "version");
  EXPECT_EQ(refuse([](auto& message) { message.set_due_ms(-1); }), "due_ms");
  std::string why;
  EXPECT_EQ(DecodeRelationRetry("\xff", &why), std::nullopt);
  EXPECT_NE(why, "");
}

}  // namespace
}  // namespace fanline
