// What an installation is, and one shard's copy of its row as text by field, which is compared,
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

// Of schemas/sql and of schemas/redis: what is kept, and where.
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
  bool own_posts = false;  // a home timeline holds the reader's own posts too

  RangeLayout layout() const { return RangeLayout(partitions); }
};

struct InstallationField {
  const char* name;
  std::string value;
};
using InstallationRow = std::array<InstallationField, 13>;  // in the order of the table

InstallationRow RowOf(const Installation& installation, Shard shard);

// A schema_version above kSchemaVersion.
bool IsNewerSchema(const std::string& found);

// The words for a schema_version that is not kSchemaVersion, and what to do about it.
std::string SchemaDiffers(const std::string& found);

// Nothing, and *why set, when the row is of another schema or not one this program can work with.
std::optional<Installation> InstallationOf(const InstallationRow& row, std::string* why);

// "" when they are equal. `found` is shard's own, `expected` is what it should be.
std::string DifferenceOf(Shard shard, const InstallationRow& found,
                         const InstallationRow& expected);

}  // namespace fanline::mysql
