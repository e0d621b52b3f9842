// fanline-bench-fill: makes readers live, on one node or a Cluster. The first timeline of each
// range and size is made as a read makes it, by the two scripts of a rebuild. So is the first of
// each range, in the shortest size: it leaves the range's key `maxfloor:` as all of them would. The
// others are copies within their range, which Redis makes a hundred times faster. Sizes are spread
// evenly, as in timelines that grow and are trimmed. With --originals every so many-th item is a
// repost of one of so many posts, which get rows. The pushers must own their ranges before: they
// drop timelines they do not know. Prints {"timelines": n}.
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "backends/mysql/installation/installation.h"
#include "backends/mysql/sql/shard_connections.h"
#include "backends/mysql/sql/sql_text.h"
#include "backends/options/mysql_settings.h"
#include "backends/options/redis_settings.h"
#include "backends/redis/cluster/masters.h"
#include "backends/redis/keys.h"
#include "backends/redis/reader_timelines.h"
#include "bench/made_up.h"
#include "bench/pipeline.h"
#include "daemon/options/options.h"
#include "daemon/run/main_guard.h"

using namespace fanline;

namespace {

struct Config {
  options::RedisSettings redis;
  options::MysqlSettings mysql;
  uint64_t first_reader = 1;
  uint64_t readers = 0;
  uint32_t least = 450;
  uint32_t most = 450;
  UnixMs newest = 0;
  uint64_t originals = 0, reposts_every = 3;
};

void AddOptions(daemon::OptionTable& table, Config& config) {
  options::AddOptions(table, config.redis);
  options::AddOptions(table, config.mysql);
  table.Add("first-reader", &config.first_reader, "the first one's id").Range(1, INT64_MAX);
  table.Add("readers", &config.readers, "how many to make live, their ids in a row").Required();
  table.Add("least", &config.least, "items of the shortest timeline").Range(1, INT64_MAX);
  table.Add("most", &config.most, "items of the longest").Range(1, INT64_MAX);
  table.Add("newest", &config.newest, "time of the newest item, in milliseconds since 1970")
      .Required();
  table.Add("originals", &config.originals, "posts that are reposted; 0: no reposts");
  table.Add("reposts-every", &config.reposts_every, "one item of so many is a repost")
      .Range(1, INT64_MAX);
  table.Check([&config]() -> std::string {
    return config.least <= config.most ? "" : "--least: is above --most";
  });
}

// As a rebuild numbers its reader (schemas/redis/timeline.lua).
constexpr const char* kAnnounce =
    "return redis.call('ZADD', KEYS[1], -redis.call('ZINCRBY', KEYS[1], -1, '#n'), ARGV[1])";

void Must(const Status& status) {
  if (!status.done()) throw std::runtime_error(status.message);
}

// A month older than the timelines.
Item OriginalOf(const Config& config, uint64_t which) {
  const UnixMs at = config.newest - UnixMs{30} * 86'400'000 - static_cast<UnixMs>(which) * 1'000;
  return {bench::PostOf(at, which), at, bench::AuthorOf(which)};
}

void WriteOriginals(const Config& config, const mysql::Installation& installation) {
  mysql::ShardConnections shards(options::ToConfig(config.mysql));
  for (uint64_t which = 0; which < config.originals; ++which) {
    const Item original = OriginalOf(config, which);
    Must(shards.Run(
        installation.shard_map.ShardOf(original.author), [&](mysql::Connection& connection) {
          connection.Execute(
              mysql::Sql("INSERT IGNORE INTO author_post (author_id, post_id, created_at_ms)"
                         " VALUES (",
                         original.author, ",", original.post, ",", original.created_at, ")"));
        }));
  }
}

void MakeByRebuild(redis::RedisReaderTimelines& timelines, UserId reader, uint32_t size,
                   const Config& config) {
  const UnixMs newest = config.newest;
  const std::string token = "bench";
  std::vector<Item> items;
  for (uint32_t i = 0; i < size; ++i) {  // one a minute
    const UnixMs at = newest - UnixMs{i} * 60'000;
    items.push_back({bench::PostOf(at, i), at, bench::AuthorOf(i)});
    if (config.originals == 0 || i % config.reposts_every != 0) continue;
    const Item original = OriginalOf(config, i / config.reposts_every % config.originals);
    items.back().original = {original.post, original.author};
  }
  const RebuildBegan began = timelines.Do(BeginRebuild{0, reader, token});
  Must(began.status);
  if (began.begun != RebuildBegun::kCreated) throw std::runtime_error("a reader is live already");
  const RebuildFinished finished =
      timelines.Do(FinishRebuild{0, reader, token, items, items.back().created_at - 1});
  Must(finished.status);
  if (!finished.applied) throw std::runtime_error("a timeline went while it was being made");
}

std::string Text(std::string_view key) { return std::string(key); }

// A pipeline to each master.
class Pipelines {
 public:
  explicit Pipelines(const redis::Options& options)
      : masters_(options), layout_(options.partitions) {
    Must(masters_.EnsureMap());
  }

  bench::Pipeline& Of(Range range) {
    const Endpoint* master = masters_.map().MasterOf(layout_.First(range));
    if (master == nullptr) throw std::runtime_error("nobody serves a range");
    return pipelines_.try_emplace(ToString(*master), *master, 256).first->second;
  }

  void Drain() {
    for (auto& [master, pipeline] : pipelines_) pipeline.Drain();
  }

 private:
  redis::Masters masters_;
  const RangeLayout layout_;
  std::map<std::string, bench::Pipeline> pipelines_;
};

int Main(int argc, char** argv) {
  Config config;
  daemon::OptionTable table("fanline-bench-fill", "makes readers live");
  AddOptions(table, config);
  table.ParseOrExit(argc, argv);

  mysql::Installation installation;
  Must(mysql::ReadInstallation(options::ToConfig(config.mysql), &installation));
  auto redis = options::ToOptions(config.redis, {}, installation);
  redis.window.window = config.most;  // as long as a timeline may be before its next trim
  redis::RedisReaderTimelines timelines(redis);
  const redis::Keys keys(redis);
  Pipelines pipelines(redis);
  WriteOriginals(config, installation);
  std::map<std::pair<Range, uint32_t>, UserId> first_of;  // by range and size
  std::vector<bool> is_known(installation.partitions, false);
  for (uint64_t i = 0; i < config.readers; ++i) {
    const UserId reader{config.first_reader + i};
    const Range range = keys.layout().RangeOf(reader);
    const bool known = is_known[static_cast<size_t>(range)];
    uint32_t size = config.least + static_cast<uint32_t>(i % (config.most - config.least + 1));
    if (!known) size = config.least;
    is_known[static_cast<size_t>(range)] = true;
    const auto [first, is_new] = first_of.emplace(std::pair(range, size), reader);
    if (is_new) {
      MakeByRebuild(timelines, reader, size, config);
      continue;
    }
    bench::Pipeline& pipeline = pipelines.Of(range);
    pipeline.Send({"EVAL", kAnnounce, "1", Text(keys.Live(range)), ToString(reader)});
    pipeline.Send({"COPY", Text(keys.Timeline(first->second)), Text(keys.Timeline(reader))});
  }
  pipelines.Drain();
  std::printf("{\"timelines\": %llu}\n", static_cast<unsigned long long>(config.readers));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-bench-fill", [&] { return Main(argc, argv); });
}
