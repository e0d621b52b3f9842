// Where a user's data lives. A bucket is one of 1,024 equal parts of all users:
//   bucket(user) = crc32(decimal id) mod 1024      (IEEE, the same as CRC32() in SQL)
// It places a reader everywhere: in the follower row's primary key, the partition of fanout-tasks
// (range), the Redis slot, the shard. Test vectors: tests/unit/bucket_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fanline/model/ids.h"

namespace fanline {

inline constexpr uint32_t kBuckets = 1024;

using Bucket = uint32_t;  // 0 .. kBuckets-1
using Range = int32_t;    // one partition of fanout-tasks: contiguous buckets
using Shard = uint32_t;   // one server of SQL

// The name of a shard in a Status, a metric or a log line: "mysql_0".
inline std::string ResourceOf(Shard shard) { return "mysql_" + std::to_string(shard); }

uint32_t Crc32(std::string_view bytes);  // IEEE 802.3, reflected
uint16_t Crc16(std::string_view bytes);  // XMODEM, the one Redis Cluster hashes slots with

Bucket BucketOf(UserId user);

// A hash tag whose Redis Cluster slot is 16 x bucket: the smallest such decimal number. All keys of
// a range carry the tag of its first bucket, so that a range is one slot, and ranges are spread
// evenly over the masters.
const std::string& TagOf(Bucket bucket);

// Cuts the buckets into `partitions` equal ranges. `partitions` divides 1024 (table
// `installation`).
class RangeLayout {
 public:
  explicit RangeLayout(uint32_t partitions);
  static bool Divides(uint32_t partitions) {
    return partitions != 0 && partitions <= kBuckets && kBuckets % partitions == 0;
  }

  uint32_t partitions() const { return partitions_; }
  Range RangeOf(Bucket bucket) const { return static_cast<Range>(bucket / per_range_); }
  Range RangeOf(UserId user) const { return RangeOf(BucketOf(user)); }
  Bucket First(Range range) const { return static_cast<Bucket>(range) * per_range_; }
  Bucket Last(Range range) const { return First(range) + per_range_ - 1; }

 private:
  uint32_t partitions_;
  uint32_t per_range_;
};

// Which shard holds a bucket: map[bucket], kept in `installation` as text such as
// "0-511:0,512-1023:1".
class ShardMap {
 public:
  static ShardMap Even(uint32_t shards);  // contiguous, as equal as can be
  // Nothing when a bucket is missing, named twice or on a shard >= `shards`.
  static std::optional<ShardMap> Parse(std::string_view text, uint32_t shards);

  Shard ShardOf(Bucket bucket) const { return map_[bucket]; }
  Shard ShardOf(UserId user) const { return map_[BucketOf(user)]; }
  uint32_t shards() const { return shards_; }
  std::string ToString() const;

 private:
  std::vector<Shard> map_ = std::vector<Shard>(kBuckets, 0);
  uint32_t shards_ = 1;
};

}  // namespace fanline
