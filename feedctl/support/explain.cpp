#include "feedctl/support/explain.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "feedctl/support/docs_folder.h"

namespace fanline::feedctl {
namespace {

struct Told {
  enum What { kAway, kMisconfigured, kRefuses } what = kRefuses;
  std::string reason;
  std::string advice;
  bool lets_in = true;  // else nobody gets as far as a question
};

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string LowerFirst(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string SystemError(int error) { return LowerFirst(std::strerror(error)); }

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

Explanation Line(const std::string& service, const std::string& address, const Told& told) {
  const std::string at = service + " at " + address + ": ";
  return {told.what == Told::kMisconfigured ? kExitConfig : kExitUnavailable,
          (told.what == Told::kAway ? "cannot reach " : "") + at + OneLine(told.reason),
          told.advice, told.what == Told::kAway || !told.lets_in};
}

// ---- Redis ----

// The adapter writes "redis <address>: <why>" when it is the connection that failed. Answers the
// address; empty for other messages.
std::string LostRedis(const std::string& message) {
  constexpr std::string_view kHead = "redis ";
  if (!message.starts_with(kHead)) return {};
  const std::string address = message.substr(kHead.size(), message.find(": ") - kHead.size());
  return ParseEndpoint(address) ? address : std::string();
}

// What was given and no server of that kind can take: waiting mends none of it. The adapters' texts
// say already what to type, Redis's do not.
std::optional<Told> MistakenRedis(const std::string& message) {
  const bool sentinel = message.starts_with("Sentinel ");
  if (Contains(message, "without any password configured")) {
    return Told{Told::kMisconfigured, message,
                sentinel ? "leave --redis-sentinel-password out, or give the Sentinels one"
                         : "leave --redis-password out, or give the server one"};
  }
  if (sentinel && Contains(message, "ERR unknown command")) {
    return Told{Told::kMisconfigured, "it is no Sentinel: " + message,
                "leave --redis-sentinel-master out, or name Sentinels by --redis"};
  }
  for (const char* clause : {"it watches no master called", "is a Sentinel: say by",
                             "is no node of a cluster, so it must be the only address"}) {
    if (Contains(message, clause)) return Told{Told::kMisconfigured, message, {}};
  }
  return std::nullopt;
}

// Of a command, or of one in a script, which Redis up to 6.2 says in words of its own around it.
bool IsFull(std::string_view message) { return Contains(message, "OOM command not allowed"); }

// A server that waits for TLS closes what does not greet; one without waits for the end of a line.
std::string WayToRedis(const std::string& why, bool tls) {
  const std::string way = "start it or set --redis / FANLINE_REDIS";
  if (tls && why == "no answer in time") {
    return way + "; if it speaks no TLS, leave --redis-tls-ca out";
  }
  if (!tls && why == "the node closed the connection") {
    return way + "; if it speaks TLS only, set --redis-tls-ca";
  }
  return way;
}

Told OfRedis(const std::string& message, bool tls) {
  if (auto mistaken = MistakenRedis(message)) return *mistaken;
  if (const std::string lost = LostRedis(message); !lost.empty()) {
    std::string why = message.substr(message.find(": ") + 2);
    if (why.starts_with("TLS: ")) {
      return {Told::kMisconfigured, why, "set --redis-tls-ca to who signed its certificate"};
    }
    why = LowerFirst(why);
    return {Told::kAway, why, WayToRedis(why, tls)};
  }
  if (Contains(message, "NOAUTH") || Contains(message, "WRONGPASS")) {
    return {Told::kMisconfigured, message,
            message.starts_with("Sentinel ")
                ? "set --redis-sentinel-user and --redis-sentinel-password"
                : "set --redis-user and --redis-password / FANLINE_REDIS_PASSWORD"};
  }
  if (Contains(message, "NOPERM") || Contains(message, "ACL failure") ||
      Contains(message, "user executing the script")) {
    return {Told::kMisconfigured, message,
            "let --redis-user do what schemas/redis/README.md lists"};
  }
  if (IsFull(message)) {
    return {Told::kRefuses, "it is full (maxmemory), and takes no timeline",
            "give it more memory, as FanlineRedisFull in " + DocsFolder() +
                "/runbooks/delivery.md says, and type this again"};
  }
  return {Told::kRefuses, message, {}};
}

// ---- MariaDB ----

// The adapter writes "MariaDB error <code>: <text>".
std::optional<int> CodeOf(std::string_view message) {
  constexpr std::string_view kHead = "MariaDB error ";
  const size_t at = message.find(kHead);
  if (at == std::string_view::npos) return std::nullopt;
  int code = 0;
  const char* begin = message.data() + at + kHead.size();
  const auto [stopped, error] = std::from_chars(begin, message.data() + message.size(), code);
  if (error != std::errc() || stopped == begin) return std::nullopt;
  return code;
}

// "Can't connect to server on '127.0.0.1' (111)" -> "connection refused"
std::string ReasonOf(const std::string& text) {
  const size_t open = text.rfind('(');
  int error = 0;
  if (open != std::string::npos &&
      std::from_chars(text.data() + open + 1, text.data() + text.size(), error).ec == std::errc() &&
      error > 0) {
    // The client library connects without waiting, and forgets why that failed.
    return error == EINPROGRESS ? "no connection" : SystemError(error);
  }
  return text;
}

Told OfMysql(const std::string& message) {
  const int code = CodeOf(message).value_or(0);
  const auto is = [code](auto... codes) { return ((code == codes) || ...); };
  if (is(2002, 2003, 2005, 2006, 2013, 2055)) {
    return {Told::kAway, ReasonOf(message),
            "start it or set --mysql-shards / FANLINE_MYSQL_SHARDS"};
  }
  if (is(1044, 1045)) {
    return {Told::kMisconfigured, message,
            "set --mysql-user / FANLINE_MYSQL_USER and --mysql-password / FANLINE_MYSQL_PASSWORD"};
  }
  if (is(2026)) {
    return {Told::kMisconfigured, message,
            Contains(message, "does not support it")
                ? "turn TLS on at the server, or leave --mysql-tls-ca out"
                : "set --mysql-tls-ca to who signed its certificate"};
  }
  if (is(1049))
    return {Told::kMisconfigured, message, "create the database, or set --mysql-shards"};
  if (is(1146, 1054)) return {Told::kMisconfigured, message, {}};  // which says what to type
  if (is(1148, 3948, 4166))
    return {Told::kMisconfigured, message, "start the shards with --local-infile=ON"};
  return {Told::kRefuses, message, {}};
}

// "mysql_1" -> its address, as an operator wrote it.
std::string AddressOf(const std::string& resource, const Settings& settings) {
  const auto shards = options::ToConfig(settings.mysql).shards;
  for (Shard shard = 0; shard < shards.size(); ++shard) {
    if (mysql::ResourceOf(shard) != resource) continue;
    return shards[shard].host + ":" + std::to_string(shards[shard].port) + "/" +
           shards[shard].database;
  }
  return "an unknown address";
}

// ---- Kafka ----

// The adapter writes "<what>: <clause> (<librdkafka's name of the error>)".
std::string ClauseOf(const std::string& message) {
  const size_t end = message.rfind(" (");
  const size_t colon = message.rfind(": ", end);
  return colon == std::string::npos ? message : message.substr(colon + 2, end - colon - 2);
}

Told OfKafka(const std::string& message) {
  if (Contains(message, "AUTHENTICATION_FAILED") || Contains(message, "(_AUTHENTICATION)")) {
    return {Told::kMisconfigured, message,
            "set --kafka-user and --kafka-password / FANLINE_KAFKA_PASSWORD", false};
  }
  if (Contains(message, "(_SSL)")) {
    return {Told::kMisconfigured, message,
            "set ssl.ca.location in --kafka-properties / FANLINE_KAFKA_PROPERTIES", false};
  }
  for (const char* code : {"(_TRANSPORT)", "(_ALL_BROKERS_DOWN)", "(_TIMED_OUT)", "(_RESOLVE)"}) {
    if (!Contains(message, code)) continue;
    return {Told::kAway, ClauseOf(message),
            "start it or set --kafka-brokers / FANLINE_KAFKA_BROKERS"};
  }
  if (Contains(message, "UNKNOWN_TOPIC")) {
    return {Told::kMisconfigured, message, "create it with feedctl topics create"};
  }
  return {Told::kRefuses, message, {}};
}

Explanation LaterOf(const Status& status, const Settings& settings) {
  if (status.resource == "kafka") {
    return Line("Kafka", settings.kafka.brokers, OfKafka(status.message));
  }
  if (status.resource == "redis") {
    std::string address = LostRedis(status.message);
    if (address.empty() && !settings.redis.seeds.empty()) address = settings.redis.seeds.front();
    return Line("Redis", address, OfRedis(status.message, settings.redis.tls.on()));
  }
  if (status.resource.starts_with("mysql_")) {
    return Line("MariaDB shard " + status.resource.substr(6), AddressOf(status.resource, settings),
                OfMysql(status.message));
  }
  return {kExitUnavailable, OneLine(status.message)};
}

}  // namespace

Explanation ExplanationOf(const Status& status, const Settings& settings, int never_code) {
  if (status.never()) return {never_code, OneLine(status.message)};
  return LaterOf(status, settings);
}

Failure Explain(const Status& status, const Settings& settings, int never_code) {
  const Explanation told = ExplanationOf(status, settings, never_code);
  return Failure(told.exit_code, told.what + (told.advice.empty() ? "" : "; ") + told.advice);
}

void Require(const Status& status, const Settings& settings, int never_code) {
  if (!status.done()) throw Explain(status, settings, never_code);
}

}  // namespace fanline::feedctl
