// Small texts that stand in paths, keys, options and rows: what is read is written the same way.
#include "backends/mysql/sql/config.h"
#include "fanline/base/check.h"
#include "fanline/base/endpoint.h"
#include "fanline/model/friendship.h"
#include "fanline/model/relation.h"
#include "fanline/ports/cursor.h"
#include "tests/fuzz/target.h"

using namespace fanline;

namespace {

// "host:port/database" of every shard, as ParseShards reads it.
std::string TextOf(const std::vector<mysql::ShardAddress>& shards) {
  std::string text;
  for (const auto& [host, port, database] : shards) {
    text += (text.empty() ? "" : ",") + ToString(Endpoint{host, port}) + "/" + database;
  }
  return text;
}

void CheckShards(std::string_view text) {
  std::string why;
  const auto shards = mysql::ParseShards(text, &why);
  FANLINE_CHECK(shards.empty() == !why.empty(), "a refusal has a reason");
  if (shards.empty()) return;
  for (const auto& shard : shards) {
    FANLINE_CHECK(!shard.host.empty() && shard.port != 0 && !shard.database.empty(),
                  "all is there");
  }
  FANLINE_CHECK(text.find('@') == std::string_view::npos, "no credentials");
  FANLINE_CHECK(mysql::ParseShards(TextOf(shards), &why) == shards, "the same when read again");
}

void CheckShardMap(std::string_view text) {
  for (const uint32_t shards : {1u, 2u, 5u, UINT32_MAX}) {
    const auto map = ShardMap::Parse(text, shards);
    if (!map) continue;
    const auto again = ShardMap::Parse(map->ToString(), shards);
    FANLINE_CHECK(again.has_value(), "the same when read again");
    for (Bucket bucket = 0; bucket < kBuckets; ++bucket) {
      FANLINE_CHECK(map->ShardOf(bucket) < shards, "a shard that there is");
      FANLINE_CHECK(map->ShardOf(bucket) == again->ShardOf(bucket), "the same when read again");
    }
  }
}

}  // namespace

FUZZ_TARGET(texts) {
  if (const auto id = ParseId(bytes)) {
    FANLINE_CHECK(IsValidId(*id) && std::to_string(*id) == bytes, "an id has one spelling");
  }
  if (const auto cursor = ParseCursor(bytes)) {
    FANLINE_CHECK(CursorText(*cursor) == bytes, "a timeline's cursor has one spelling");
  }
  if (const auto cursor = ParseListCursor(bytes)) {
    FANLINE_CHECK(CursorText(*cursor) == bytes, "a list's cursor has one spelling");
  }
  if (const auto endpoint = ParseEndpoint(bytes)) {
    FANLINE_CHECK(!endpoint->host.empty(), "an endpoint has a host");
    FANLINE_CHECK(ParseEndpoint(ToString(*endpoint)) == endpoint, "the same when read again");
  }
  if (const auto action = ParseFriendAction(bytes)) {
    FANLINE_CHECK(NameOf(*action) == bytes, "an action has one name");
  }
  CheckShards(bytes);
  CheckShardMap(bytes);
}
