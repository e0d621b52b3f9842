#include "backends/mysql/installation/installation_row.h"

#include <gmock/gmock.h>

namespace fanline::mysql {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Installation TwoShards() { return {.shard_map = ShardMap::Even(2)}; }

InstallationRow With(const char* field, const char* value) {
  InstallationRow row = RowOf(TwoShards(), 0);
  for (auto& each : row) {
    if (std::string(each.name) == field) each.value = value;
  }
  return row;
}

TEST(InstallationRow, ReadsBackAsWhatWasWritten) {
  std::string why;
  const auto found = InstallationOf(RowOf(TwoShards(), 1), &why);
  ASSERT_TRUE(found) << why;
  EXPECT_EQ(DifferenceOf(RowOf(*found, 1), RowOf(TwoShards(), 1)), "");
}

TEST(InstallationRow, EveryFieldThatDiffersIsNamed) {
  for (const auto& [field, expected] : RowOf(TwoShards(), 0)) {
    EXPECT_THAT(DifferenceOf(With(field, "x"), RowOf(TwoShards(), 0)),
                AllOf(HasSubstr(field), HasSubstr("\"x\""), HasSubstr("\"" + expected + "\"")));
  }
}

TEST(InstallationRow, WhatThisProgramCannotWorkWithIsRefusedWithTheReason) {
  const std::pair<const char*, const char*> kBad[] = {
      {"schema_version", "2"},  {"schema_version", ""},       {"buckets", "2048"},
      {"partitions", "12"},     {"shard_map", "0-1023:5"},    {"shard_map", "0-100:0"},
      {"shard_count", "1"},     {"generation", "yesterday"},  {"timeline_window", "495"},
      {"timeline_window", "0"}, {"timeline_max_entries", ""}, {"following_limit", "-1"},
      {"following_limit", "0"}, {"own_posts", "2"},           {"own_posts", ""},
  };
  for (const auto& [field, value] : kBad) {
    std::string why;
    EXPECT_FALSE(InstallationOf(With(field, value), &why)) << field << " = " << value;
    EXPECT_FALSE(why.empty());
  }
}

}  // namespace
}  // namespace fanline::mysql
