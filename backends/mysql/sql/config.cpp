#include "backends/mysql/sql/config.h"

#include <optional>
#include <utility>

#include "fanline/base/endpoint.h"

namespace fanline::mysql {
namespace {

constexpr std::string_view kScheme = "tcp://";

// "host", "host:port", "[v6]", "[v6]:port"
bool ParseHost(std::string_view text, ShardAddress& address) {
  auto endpoint = ParseEndpoint(text);
  if (!endpoint) endpoint = ParseEndpoint(std::string(text) + ":" + std::to_string(address.port));
  if (!endpoint || endpoint->port == 0) return false;
  address.host = std::move(endpoint->host);
  address.port = endpoint->port;
  return true;
}

std::optional<ShardAddress> ParseShard(std::string_view text, std::string* why) {
  if (text.find('@') != std::string_view::npos) {
    *why = "a shard address carries no user or password: they have options of their own";
    return std::nullopt;
  }
  if (text.starts_with(kScheme)) text.remove_prefix(kScheme.size());
  const auto slash = text.find('/');
  ShardAddress address;
  if (slash == std::string_view::npos || !ParseHost(text.substr(0, slash), address)) {
    *why = "a shard is written tcp://host:port/database, not \"" + std::string(text) + "\"";
    return std::nullopt;
  }
  address.database = text.substr(slash + 1);
  if (address.database.empty() || address.database.find('/') != std::string::npos) {
    *why = "a shard's address ends with the name of its database: tcp://host:port/database";
    return std::nullopt;
  }
  return address;
}

}  // namespace

std::string AddressOf(const ShardAddress& shard) {
  return shard.host + ":" + std::to_string(shard.port) + "/" + shard.database;
}

std::string Config::PlaceOf(Shard shard) const {
  const std::string name = resource.empty() ? "shard " + std::to_string(shard) : resource;
  return name + " at " + AddressOf(shards[shard]);
}

std::string Config::PlaceOf(std::string_view named) const {
  for (Shard shard = 0; shard < shards.size(); ++shard) {
    if (NameOf(shard) == named) return PlaceOf(shard);
  }
  return "";
}

std::vector<ShardAddress> ParseShards(std::string_view text, std::string* why) {
  std::vector<ShardAddress> shards;
  for (;;) {
    const auto comma = text.find(',');
    auto shard = ParseShard(text.substr(0, comma), why);
    if (!shard) return {};
    shards.push_back(std::move(*shard));
    if (comma == std::string_view::npos) return shards;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace fanline::mysql
