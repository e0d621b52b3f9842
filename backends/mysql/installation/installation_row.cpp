#include "backends/mysql/installation/installation_row.h"

#include "backends/mysql/sql/config.h"
#include "fanline/base/number.h"

namespace fanline::mysql {
namespace {

enum Field {
  kSchema,
  kBucketCount,
  kPartitions,
  kShardCount,
  kShardIndex,
  kMap,
  kGeneration,
  kFeedTopic,
  kTasksTopic,
  kWindow,
  kMaxEntries,
  kFollowingLimit,
  kOwnPosts
};

template <typename Integer>
bool Parse(const std::string& text, Integer& out) {
  const auto number = ParseNumber<Integer>(text);
  out = number.value_or(out);
  return number.has_value();
}

}  // namespace

std::string SchemaDiffers(const std::string& found) {
  const bool newer = ParseNumber<uint32_t>(found).value_or(0) > kSchemaVersion;
  const char* const advice = newer ? "; a newer version made it: take that version's programs"
                                   : "; an older version made it: install into empty databases";
  return "its schema_version is " + found + ", this program knows " +
         std::to_string(kSchemaVersion) + advice;
}

InstallationRow RowOf(const Installation& installation, Shard shard) {
  return {{{"schema_version", std::to_string(installation.schema_version)},
           {"buckets", std::to_string(installation.buckets)},
           {"partitions", std::to_string(installation.partitions)},
           {"shard_count", std::to_string(installation.shard_map.shards())},
           {"shard_index", std::to_string(shard)},
           {"shard_map", installation.shard_map.ToString()},
           {"generation", std::to_string(installation.generation)},
           {"feed_topic", installation.feed_topic},
           {"tasks_topic", installation.tasks_topic},
           {"timeline_window", std::to_string(installation.window.window)},
           {"timeline_max_entries", std::to_string(installation.window.max_entries)},
           {"following_limit", std::to_string(installation.following_limit)},
           {"own_posts", installation.own_posts ? "1" : "0"}}};
}

std::optional<Installation> InstallationOf(const InstallationRow& row, std::string* why) {
  Installation found;
  uint32_t shard_count = 0;
  const bool numbers = Parse(row[kSchema].value, found.schema_version) &&
                       Parse(row[kBucketCount].value, found.buckets) &&
                       Parse(row[kPartitions].value, found.partitions) &&
                       Parse(row[kShardCount].value, shard_count) &&
                       Parse(row[kGeneration].value, found.generation) &&
                       Parse(row[kWindow].value, found.window.window) &&
                       Parse(row[kMaxEntries].value, found.window.max_entries) &&
                       Parse(row[kFollowingLimit].value, found.following_limit);
  if (!numbers || found.schema_version != kSchemaVersion) {
    *why = SchemaDiffers(row[kSchema].value);
    return std::nullopt;
  }
  if (found.buckets != kBuckets) {
    *why = "its buckets are " + row[kBucketCount].value + ", this program knows " +
           std::to_string(kBuckets);
    return std::nullopt;
  }
  if (!RangeLayout::Divides(found.partitions)) {
    *why = "its partitions are " + row[kPartitions].value + ", which does not divide the buckets";
    return std::nullopt;
  }
  if (!found.window.fits()) {
    *why = "its timeline_window " + row[kWindow].value + " does not fit its timeline_max_entries " +
           row[kMaxEntries].value;
    return std::nullopt;
  }
  if (found.following_limit == 0) {
    *why = "its following_limit is 0, which would let nobody follow";
    return std::nullopt;
  }
  if (row[kOwnPosts].value != "0" && row[kOwnPosts].value != "1") {
    *why = "its own_posts is \"" + row[kOwnPosts].value + "\", which is neither 0 nor 1";
    return std::nullopt;
  }
  found.own_posts = row[kOwnPosts].value == "1";
  auto map = ShardMap::Parse(row[kMap].value, shard_count);
  if (!map) {
    *why = "its shard_map \"" + row[kMap].value + "\" does not place every bucket on one of " +
           row[kShardCount].value + " shards";
    return std::nullopt;
  }
  found.shard_map = *std::move(map);
  found.feed_topic = row[kFeedTopic].value;
  found.tasks_topic = row[kTasksTopic].value;
  return found;
}

std::string DifferenceOf(const InstallationRow& found, const InstallationRow& expected) {
  for (size_t field = 0; field < found.size(); ++field) {
    if (found[field].value == expected[field].value) continue;
    return std::string(found[field].name) + " is \"" + found[field].value + "\", expected \"" +
           expected[field].value + "\"";
  }
  return {};
}

}  // namespace fanline::mysql
