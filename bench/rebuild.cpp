// fanline-bench-rebuild: timelines made live as a read makes them, one reader after another, on one
// thread and one connection per shard.
//
//   fill      writes whom the readers follow, and posts, without the clock: each author's at random
//             moments of thirty days. With --reposters, each author also reposts one post, as so
//             many others do, whom nobody follows
//   rebuild   each timeline is rebuilt: followees, when they last posted, their posts, both scripts
//   known     the other side, by a client that knows the answer: the same reads of followees and of
//             when they last posted, the posts by the span that is known to hold the window, one
//             ZADD
//
// Deletes what the readers have in Redis, and finds the known spans, without the clock. A reader
// follows a row of authors that overlaps half with the next reader's. With turns, each is rebuilt
// so often. Prints {"rebuilds": n, "seconds": s, "p99_ms": m}.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "backends/mysql/installation/installation.h"
#include "backends/mysql/posts/reader_truth.h"
#include "backends/mysql/sql/sql_text.h"
#include "backends/options/mysql_settings.h"
#include "backends/options/redis_settings.h"
#include "backends/redis/keys.h"
#include "backends/redis/reader_timelines.h"
#include "bench/made_up.h"
#include "bench/pipeline.h"
#include "bench/round.h"
#include "daemon/options/options.h"
#include "daemon/run/main_guard.h"
#include "timeline/reader.h"

using namespace fanline;
using mysql::AppendJoined;
using mysql::AppendTuple;

namespace {

constexpr uint64_t kFirstReader = 10'000'000'000, kFirstAuthor = 20'000'000'000;
constexpr UnixMs kNewest = 1'700'000'000'000;
constexpr UnixMs kHistory = UnixMs{30} * 86'400'000;
constexpr size_t kRowsPerStatement = 1'000;

struct Config {
  options::MysqlSettings mysql;
  options::RedisSettings redis;
  options::TimelineSettings timelines;
  WindowLimits window;  // the installation's
  uint64_t readers = 0;
  uint64_t followees = 0;
  uint64_t posts = 20;
  uint64_t turns = 1;
  uint64_t reposters = 0;
};

void AddOptions(daemon::OptionTable& table, Config& config) {
  options::AddOptions(table, config.mysql);
  options::AddOptions(table, config.redis);
  options::AddOptions(table, config.timelines);
  table.Add("readers", &config.readers, "how many readers").Range(1, INT64_MAX).Required();
  table.Add("followees", &config.followees, "authors each of them follows")
      .Range(2, INT64_MAX)
      .Required();
  table.Add("posts", &config.posts, "posts of an author").Range(1, INT64_MAX);
  table.Add("turns", &config.turns, "how often each reader's timeline is rebuilt")
      .Range(1, INT64_MAX);
  table.Add("reposters", &config.reposters, "others who reposted what each author did");
  table.AddCommand("fill", "writes the rows");
  table.AddCommand("rebuild", "rebuilds each reader's timeline");
  table.AddCommand("known", "reads and writes what is known to be the answer");
}

// Fills of other sizes have other users; the same one may be made again.
uint64_t Base(const Config& config) { return config.followees * 1'000'000; }
UserId Reader(const Config& config, uint64_t i) { return UserId{kFirstReader + Base(config) + i}; }
UserId Author(const Config& config, uint64_t i) { return UserId{kFirstAuthor + Base(config) + i}; }
uint64_t FirstFollowed(const Config& config, uint64_t reader) {
  return reader * (config.followees / 2);
}

std::string Known(const Config& config, uint64_t reader) {
  return "known:" + ToString(Reader(config, reader));
}

// Rows gathered by shard and written many at a time.
class Rows {
 public:
  Rows(mysql::ShardConnections& connections, const ShardMap& map, std::string insert)
      : connections_(connections), map_(map), insert_(std::move(insert)), rows_(map.shards()) {}

  template <typename... Values>
  void Add(UserId owner, Values... values) {
    const Shard shard = map_.ShardOf(owner);
    std::string& row = rows_[shard].emplace_back();
    AppendTuple(row, Raw(owner), values...);
    if (rows_[shard].size() == kRowsPerStatement) Write(shard);
  }
  void WriteAll() {
    for (Shard shard = 0; shard < rows_.size(); ++shard) {
      if (!rows_[shard].empty()) Write(shard);
    }
  }

 private:
  void Write(Shard shard) {
    std::string sql = insert_;
    AppendJoined(sql, rows_[shard], [](std::string& out, const std::string& row) { out += row; });
    bench::Must(
        connections_.Run(shard, [&](mysql::Connection& connection) { connection.Execute(sql); }));
    rows_[shard].clear();
  }

  mysql::ShardConnections& connections_;
  const ShardMap& map_;
  const std::string insert_;
  std::vector<std::vector<std::string>> rows_;
};

void FillReposts(const Config& config, uint64_t authors, mysql::ShardConnections& connections,
                 const ShardMap& map) {
  constexpr uint64_t kOthers = 500'000;  // behind the authors
  const UserId by = Author(config, kOthers - 1);
  const UnixMs published = kNewest - 2 * kHistory;
  const uint64_t original = Raw(bench::PostOf(published, 0));
  Rows originals(connections, map,
                 "INSERT IGNORE INTO author_post (author_id, post_id, created_at_ms) VALUES ");
  originals.Add(by, original, published);
  originals.WriteAll();
  Rows posts(connections, map,
             "INSERT IGNORE INTO author_post (author_id, post_id, created_at_ms, original_id,"
             " original_author) VALUES ");
  Rows reposts(connections, map,
               "INSERT IGNORE INTO repost (author_id, original_id, post_id) VALUES ");
  for (uint64_t i = 0; i < authors + config.reposters; ++i) {
    const UserId author = Author(config, i < authors ? i : kOthers + i);
    const UnixMs at = kNewest - static_cast<UnixMs>(bench::Mixed(~i) % kHistory);
    const uint64_t post = Raw(bench::PostOf(at, kOthers + i));
    posts.Add(author, post, at, original, Raw(by));
    reposts.Add(author, original, post);
  }
  posts.WriteAll();
  reposts.WriteAll();
}

void Fill(const Config& config, mysql::ShardConnections& connections, const ShardMap& map) {
  Rows following(connections, map,
                 "INSERT IGNORE INTO following (src, dst, ver, state, pos) VALUES ");
  for (uint64_t reader = 0; reader < config.readers; ++reader) {
    for (uint64_t k = 0; k < config.followees; ++k) {
      const UserId author = Author(config, FirstFollowed(config, reader) + k);
      following.Add(Reader(config, reader), Raw(author), 1, 1, 1);
    }
  }
  following.WriteAll();

  Rows authors(connections, map, "INSERT IGNORE INTO author (author_id, last_at) VALUES ");
  Rows posts(connections, map,
             "INSERT IGNORE INTO author_post (author_id, post_id, created_at_ms) VALUES ");
  const uint64_t count = FirstFollowed(config, config.readers - 1) + config.followees;
  for (uint64_t author = 0; author < count; ++author) {
    UnixMs last = 0;
    for (uint64_t k = 0; k < config.posts; ++k) {
      const auto age = static_cast<UnixMs>(bench::Mixed(author * config.posts + k) % kHistory);
      const UnixMs at = kNewest - age;
      const uint64_t post = Raw(bench::PostOf(at, author));
      posts.Add(Author(config, author), post, at);
      last = std::max(last, at);
    }
    authors.Add(Author(config, author), last);
  }
  authors.WriteAll();
  posts.WriteAll();
  if (config.reposters > 0) FillReposts(config, count, connections, map);
}

// Deletes what the reader has, and notes how long `rebuild` then takes; of each, turn by turn.
template <typename Rebuild>
std::vector<double> InTurns(const Config& config, const redis::Keys& keys, bench::Pipeline& redis,
                            const Rebuild& rebuild) {
  std::vector<double> took;
  for (uint64_t i = 0; i < config.turns * config.readers; ++i) {
    const uint64_t reader = i % config.readers;
    redis.Send({"DEL", std::string(std::string_view(keys.Timeline(Reader(config, reader)))),
                Known(config, reader)});
    redis.Drain();
    const bench::Stopwatch watch;
    rebuild(reader);
    took.push_back(watch.Seconds());
  }
  return took;
}

std::vector<double> RebuildAll(const Config& config, const redis::Options& options,
                               const redis::Keys& keys, ReaderTruth& truth,
                               bench::Pipeline& redis) {
  redis::RedisReaderTimelines timelines(options);
  uint64_t tokens = 0;
  timeline::Reader reader(
      truth, timelines, config.window, [&tokens] { return "bench-" + std::to_string(++tokens); },
      false);
  return InTurns(config, keys, redis, [&](uint64_t i) {
    timeline::RebuildResult result{};
    bench::Must(reader.Activate(Reader(config, i), &result));
    bench::Must(result == timeline::RebuildResult::kRebuilt, "a timeline was not rebuilt");
  });
}

std::vector<PostsOf> PushedBy(const std::vector<UserId>& authors) {
  std::vector<PostsOf> posts;
  for (const UserId author : authors) posts.push_back({author, true});
  return posts;
}

// For each reader the newest moment that is not in the window.
std::vector<UnixMs> FindSpans(const Config& config, ReaderTruth& truth) {
  std::vector<UnixMs> above;
  for (uint64_t i = 0; i < config.readers; ++i) {
    std::vector<UserId> authors;
    ItemsRead read;
    bench::Must(truth.Followees(Reader(config, i), &authors));
    bench::Must(truth.Items(PushedBy(authors), {}, UINT32_MAX, &read));
    std::sort(read.items.begin(), read.items.end(), IsNewer);
    const size_t window = std::min<size_t>(config.window.window, read.items.size());
    bench::Must(window > 0, "a reader of nothing");
    above.push_back(read.items[window - 1].created_at - 1);
  }
  return above;
}

std::vector<double> ReadKnown(const Config& config, const redis::Keys& keys, ReaderTruth& truth,
                              bench::Pipeline& redis) {
  const std::vector<UnixMs> spans = FindSpans(config, truth);
  return InTurns(config, keys, redis, [&](uint64_t i) {
    std::vector<UserId> authors;
    std::vector<AuthorLastAt> times;
    ItemsRead read;
    bench::Must(truth.Followees(Reader(config, i), &authors));
    bench::Must(truth.LastAt(authors, &times));
    authors.clear();
    for (const AuthorLastAt& author : times) {
      if (author.last_at > spans[i]) authors.push_back(author.author);
    }
    bench::Must(truth.Items(PushedBy(authors), {spans[i], {}, {}}, UINT32_MAX, &read));
    std::vector<std::string> words = {"ZADD", Known(config, i)};
    for (const Item& item : read.items) {
      words.push_back(std::to_string(-item.created_at));
      words.push_back(ToString(item.post));
    }
    redis.Send(words);
    redis.Drain();
  });
}

int Main(int argc, char** argv) {
  Config config;
  daemon::OptionTable table("fanline-bench-rebuild", "rebuilds of timelines");
  AddOptions(table, config);
  const std::string command = table.ParseOrExit(argc, argv).command;

  const mysql::Config shards = options::ToConfig(config.mysql);
  mysql::Installation installation;
  bench::Must(mysql::ReadInstallation(shards, &installation));
  const ShardMap& map = installation.shard_map;
  config.window = installation.window;
  if (command == "fill") {
    mysql::ShardConnections connections(shards);
    Fill(config, connections, map);
    std::printf("{\"rebuilds\": 0}\n");
    return 0;
  }
  const auto redis_options = options::ToOptions(config.redis, config.timelines, installation);
  const redis::Keys keys(redis_options);
  bench::Pipeline redis(config.redis.addresses().front(), 256);
  mysql::MysqlReaderTruth truth(shards, map);
  std::vector<UserId> opens_the_connections;
  bench::Must(truth.Followees(Reader(config, 0), &opens_the_connections));
  std::vector<double> took = command == "known"
                                 ? ReadKnown(config, keys, truth, redis)
                                 : RebuildAll(config, redis_options, keys, truth, redis);
  const double seconds = std::accumulate(took.begin(), took.end(), 0.0);
  std::sort(took.begin(), took.end());
  std::printf("{\"rebuilds\": %zu, \"seconds\": %.6f, \"p99_ms\": %.4f}\n", took.size(), seconds,
              took[took.size() * 99 / 100] * 1e3);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-bench-rebuild", [&] { return Main(argc, argv); });
}
