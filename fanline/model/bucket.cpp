#include "fanline/model/bucket.h"

#include <boost/crc.hpp>

#include "fanline/base/check.h"
#include "fanline/base/number.h"

namespace fanline {
namespace {

constexpr uint32_t kClusterSlots = 16384;
constexpr uint32_t kSlotsPerBucket = kClusterSlots / kBuckets;

std::vector<std::string> MakeTags() {
  std::vector<std::string> tags(kBuckets);
  uint32_t missing = kBuckets;
  for (uint32_t number = 0; missing > 0; ++number) {
    std::string tag = std::to_string(number);
    const uint32_t slot = Crc16(tag) % kClusterSlots;
    if (slot % kSlotsPerBucket != 0 || !tags[slot / kSlotsPerBucket].empty()) continue;
    tags[slot / kSlotsPerBucket] = std::move(tag);
    --missing;
  }
  return tags;
}

struct Span {
  uint32_t first = 0;
  uint32_t last = 0;  // inclusive
};

// "12" or "12-34".
std::optional<Span> ParseSpan(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = ParseNumber<uint32_t>(text.substr(0, dash));
  const auto last =
      dash == std::string_view::npos ? first : ParseNumber<uint32_t>(text.substr(dash + 1));
  if (!first || !last || *first > *last) return std::nullopt;
  return Span{*first, *last};
}

}  // namespace

uint32_t Crc32(std::string_view bytes) {
  boost::crc_32_type crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

uint16_t Crc16(std::string_view bytes) {
  return boost::crc<16, 0x1021, 0, 0, false, false>(bytes.data(), bytes.size());
}

Bucket BucketOf(UserId user) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, Raw(user)).ptr;
  return Crc32({digits, static_cast<size_t>(end - digits)}) % kBuckets;
}

const std::string& TagOf(Bucket bucket) {
  static const std::vector<std::string> tags = MakeTags();
  return tags[bucket];
}

RangeLayout::RangeLayout(uint32_t partitions)
    : partitions_(partitions), per_range_(kBuckets / (partitions == 0 ? 1 : partitions)) {
  FANLINE_CHECK(Divides(partitions), "the number of ranges must divide 1024");
}

ShardMap ShardMap::Even(uint32_t shards) {
  FANLINE_CHECK(shards > 0 && shards <= kBuckets, "1 to 1024 shards");
  ShardMap map;
  map.shards_ = shards;
  for (Bucket bucket = 0; bucket < kBuckets; ++bucket)
    map.map_[bucket] = bucket * shards / kBuckets;
  return map;
}

std::optional<ShardMap> ShardMap::Parse(std::string_view text, uint32_t shards) {
  ShardMap map;
  map.shards_ = shards;
  std::vector<bool> seen(kBuckets, false);
  uint32_t named = 0;
  for (size_t start = 0, comma = 0; comma != std::string_view::npos; start = comma + 1) {
    comma = text.find(',', start);
    const auto entry = text.substr(start, comma == std::string_view::npos ? comma : comma - start);
    const auto colon = entry.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const auto span = ParseSpan(entry.substr(0, colon));
    const auto shard = ParseNumber<uint32_t>(entry.substr(colon + 1));
    if (!span || span->last >= kBuckets || !shard || *shard >= shards) return std::nullopt;
    for (Bucket bucket = span->first; bucket <= span->last; ++bucket) {
      if (seen[bucket]) return std::nullopt;
      seen[bucket] = true;
      map.map_[bucket] = *shard;
      ++named;
    }
  }
  if (named != kBuckets) return std::nullopt;
  return map;
}

std::string ShardMap::ToString() const {
  std::string text;
  for (Bucket first = 0; first < kBuckets;) {
    Bucket last = first;
    while (last + 1 < kBuckets && map_[last + 1] == map_[first]) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(first) + '-' + std::to_string(last) + ':' + std::to_string(map_[first]);
    first = last + 1;
  }
  return text;
}

}  // namespace fanline
