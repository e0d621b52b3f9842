#include "backends/mysql/config.h"

#include <charconv>
#include <optional>

namespace fanline::mysql {
namespace {

constexpr std::string_view kScheme = "tcp://";

std::optional<uint16_t> ParsePort(std::string_view text) {
  uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, port);
  if (error != std::errc() || stopped != end || port == 0) return std::nullopt;
  return port;
}

// "host", "host:port", "[v6]", "[v6]:port"
bool ParseHost(std::string_view text, ShardAddress& address) {
  const bool bracketed = text.starts_with('[');
  const auto host_end = bracketed ? text.find(']') : text.find(':');
  if (bracketed && host_end == std::string_view::npos) return false;
  address.host = bracketed ? text.substr(1, host_end - 1) : text.substr(0, host_end);
  if (address.host.empty()) return false;
  auto rest = host_end == std::string_view::npos ? std::string_view() : text.substr(host_end);
  if (bracketed) rest.remove_prefix(1);
  if (rest.empty()) return true;
  if (!rest.starts_with(':')) return false;
  const auto port = ParsePort(rest.substr(1));
  if (port) address.port = *port;
  return port.has_value();
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

std::string ResourceOf(Shard shard) { return "mysql_" + std::to_string(shard); }

}  // namespace fanline::mysql
