#include "backends/options/redis_settings.h"

namespace fanline::options {
namespace {

using namespace std::chrono_literals;

// A timeline carries two sentinels, and one write may add kMaxAddsPerWrite items before a trim.
constexpr uint32_t kBesideTheWindow = 2 + kMaxAddsPerWrite;

std::string Problem(const TimelineSettings& settings) {
  if (settings.window + kBesideTheWindow <= settings.max_entries) return {};
  return "--window: " + std::to_string(settings.window) + " does not fit --timeline-max-entries " +
         std::to_string(settings.max_entries) + ", which must be larger by at least " +
         std::to_string(kBesideTheWindow) +
         "; raise it, and the server's zset-max-listpack-entries with it";
}

}  // namespace

void AddOptions(daemon::OptionTable& table, RedisSettings& settings) {
  table.Add("redis", &settings.address, "where the timelines live");
  table.Add("redis-user", &settings.user, "the user of its ACL; empty is the default user");
  table.Add("redis-password", &settings.password, "the password of that user").Secret();
  table.Add("redis-connect-timeout", &settings.connect_timeout, "how long connecting may take")
      .Range(1ms, 1min);
  table
      .Add("redis-command-timeout", &settings.command_timeout,
           "how long an answer may take; then the connection is made anew")
      .Range(10ms, 1min);
}

void AddOptions(daemon::OptionTable& table, TimelineSettings& settings) {
  table
      .Add("window", &settings.window,
           "items a live timeline keeps; the same for every program of an installation")
      .Range(1, 10'000)
      .Unit("ITEMS");
  table
      .Add("timeline-max-entries", &settings.max_entries,
           "members a timeline never exceeds; the server's zset-max-listpack-entries should not "
           "be lower, or a timeline takes 5 times the memory")
      .Range(1 + kBesideTheWindow, 20'000)
      .Unit("MEMBERS");
  table.Add("timeline-ttl", &settings.ttl, "how long a timeline stays live after it was last read")
      .Range(1min, 366 * 24h);
  table.Check([&settings] { return Problem(settings); });
}

WindowLimits ToWindow(const TimelineSettings& timelines) {
  return {timelines.window, timelines.max_entries};
}

redis::Options ToOptions(const RedisSettings& redis, const TimelineSettings& timelines) {
  redis::Options options;
  options.address = redis.address;
  options.username = redis.user;
  options.password = redis.password;
  options.connect_timeout = redis.connect_timeout;
  options.command_timeout = redis.command_timeout;
  options.window = ToWindow(timelines);
  options.timeline_ttl = timelines.ttl;
  return options;
}

}  // namespace fanline::options
