// The settings of an installation, and one shard's copy of its row: text by field, to be compared,
// written and shown.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "fanline/model/bucket.h"
#include "fanline/ports/forward_edges.h"
#include "fanline/ports/live_timelines.h"

namespace fanline::mysql {

// The version of schemas/sql and schemas/redis: what is stored, and where.
inline constexpr uint32_t kSchemaVersion = 1;

struct Installation {
  uint32_t schema_version = kSchemaVersion;
  uint32_t buckets = kBuckets;
  uint32_t partitions = 16;  // of the tasks topic
  ShardMap shard_map = ShardMap::Even(1);
  uint64_t generation = 1;  // of the tasks topic
  std::string feed_topic = "feed-events";
  std::string tasks_topic = "fanout-tasks";
  WindowLimits window;
  uint32_t following_limit = kMostFollowed;
  bool own_posts = false;  // home timelines hold their readers' own posts too

  RangeLayout layout() const { return RangeLayout(partitions); }
};

struct InstallationField {
  const char* name;
  std::string value;
};
using InstallationRow = std::array<InstallationField, 13>;  // in the order of the table

InstallationRow RowOf(const Installation& installation, Shard shard);

// The message about a schema_version that is not kSchemaVersion, with the advice.
std::string SchemaDiffers(const std::string& found);

// Nothing, with *why set, if the row has another schema or values that this program cannot work
// with.
std::optional<Installation> InstallationOf(const InstallationRow& row, std::string* why);

// "" if they are equal. `found` is the shard's row, `expected` what it should be.
std::string DifferenceOf(const InstallationRow& found, const InstallationRow& expected);

}  // namespace fanline::mysql
