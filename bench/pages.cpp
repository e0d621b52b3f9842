// fanline-bench-pages: pages of home timelines, one reader after another.
//
//   library   the first page of each live timeline through fanline::timeline
//   plain     as many items by a plain ZRANGE through hiredis
//   below     the page right below the floor of each live timeline, through fanline::timeline; with
//             --deep, by a cursor that itself lies there, so that only the truth knows what stands
//             in front of it
//   bare      the same page by the two statements that an application would type: whom the reader
//             follows, and on each shard the newest posts of these before that moment
//   load      the first page over HTTP from --port, as it comes on connections that are kept open,
//             or at --rate; with --behind, the page behind so many items of the first reader's
//             timeline, which the others' are copies of
//
// The first four use one thread, one connection to Redis and one to each shard, and wait for each
// answer. Prints {"pages": n, "seconds": s}; load also "p50_ms" and "p99_ms".
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backends/mysql/installation/installation.h"
#include "backends/mysql/posts/reader_truth.h"
#include "backends/mysql/sql/shard_connections.h"
#include "backends/mysql/sql/sql_text.h"
#include "backends/options/mysql_settings.h"
#include "backends/options/redis_settings.h"
#include "backends/redis/keys.h"
#include "backends/redis/reader_timelines.h"
#include "bench/pipeline.h"
#include "bench/round.h"
#include "bench/threads.h"
#include "daemon/options/options.h"
#include "daemon/run/main_guard.h"
#include "fanline/ports/cursor.h"
#include "timeline/reader.h"

using namespace fanline;

namespace {

struct Config {
  options::MysqlSettings mysql;
  options::RedisSettings redis;
  options::TimelineSettings timelines;
  uint64_t first_reader = 0, readers = 0, pages = 0, port = 0, rate = 0;
  uint32_t limit = 50, threads = 2, behind = 0;
  bool deep = false;
  Duration duration = std::chrono::seconds(2);
};

void AddOptions(daemon::OptionTable& table, Config& config) {
  options::AddOptions(table, config.mysql);
  options::AddOptions(table, config.redis);
  options::AddOptions(table, config.timelines);
  table.Add("first-reader", &config.first_reader, "id of the first reader").Required();
  table.Add("readers", &config.readers, "how many there are").Range(1, INT64_MAX).Required();
  table.Add("pages", &config.pages, "pages to read, but for load").Range(1, INT64_MAX);
  table.Add("limit", &config.limit, "items of a page").Range(1, INT64_MAX);
  table.Add("port", &config.port, "of the server on this host, for load");
  table.Add("threads", &config.threads, "connections of load, each with a thread")
      .Range(1, INT64_MAX);
  table.Add("deep", &config.deep, "a cursor below the floor, for below");
  table.Add("behind", &config.behind, "members of the timelines in front of the page, for load");
  table.Add("rate", &config.rate, "pages a second of load; 0: as many as come");
  table.Add("duration", &config.duration, "of load")
      .Range(std::chrono::milliseconds(1), std::chrono::hours(1));
  table.AddCommand("library", "first pages through fanline::timeline");
  table.AddCommand("plain", "the same by ZRANGE");
  table.AddCommand("below", "pages below the floor through fanline::timeline");
  table.AddCommand("bare", "the same by statements");
  table.AddCommand("load", "first pages over HTTP");
}

UserId Reader(const Config& config, uint64_t i) {
  return UserId{config.first_reader + i % config.readers};
}

struct Stores {
  explicit Stores(const Config& config) : shards(options::ToConfig(config.mysql)) {
    bench::Must(mysql::ReadInstallation(shards, &installation));
    redis = options::ToOptions(config.redis, config.timelines, installation);
  }
  mysql::Config shards;
  mysql::Installation installation;
  redis::Options redis;
};

double Library(const Config& config, const Stores& stores) {
  mysql::MysqlReaderTruth truth(stores.shards, stores.installation.shard_map);
  redis::RedisReaderTimelines timelines(stores.redis);
  timeline::Reader reader(
      truth, timelines, stores.installation.window, [] { return std::string(); },
      stores.installation.own_posts);
  timeline::Page page;
  bench::Must(reader.Home(Reader(config, 0), {.limit = config.limit}, &page));
  const bench::Stopwatch watch;
  for (uint64_t i = 0; i < config.pages; ++i) {
    bench::Must(reader.Home(Reader(config, i), {.limit = config.limit}, &page));
    bench::Must(page.live() && page.items.size() == config.limit,
                "no whole page of a live timeline");
  }
  return watch.Seconds();
}

double Plain(const Config& config, const Stores& stores) {
  const redis::Keys keys(stores.redis);
  bench::Pipeline redis(config.redis.addresses().front(), 1);
  const std::string last = std::to_string(config.limit);
  const bench::Stopwatch watch;
  for (uint64_t i = 0; i < config.pages; ++i) {
    const auto key = keys.Timeline(Reader(config, i));
    redis.Send({"ZRANGE", std::string(std::string_view(key)), "1", last, "WITHSCORES"});
  }
  redis.Drain();
  return watch.Seconds();
}

// Where the readers' live timelines end.
std::vector<Position> Ends(const Config& config, const Stores& stores) {
  redis::RedisReaderTimelines timelines(stores.redis);
  std::vector<Position> ends;
  for (uint64_t i = 0; i < config.readers; ++i) {
    const LivePageRead read = timelines.Do(ReadLivePage{0, Reader(config, i), {}, UINT16_MAX});
    bench::Must(read.status);
    const LivePage& page = read.page;
    bench::Must(!page.items.empty() && page.floor != kNoFloor, "a timeline without a floor");
    ends.push_back(config.deep ? Position{page.floor, PostId{1}}
                               : timeline::PlaceOf(page.items.back()));
  }
  return ends;
}

double Below(const Config& config, const Stores& stores) {
  const std::vector<Position> ends = Ends(config, stores);
  mysql::MysqlReaderTruth truth(stores.shards, stores.installation.shard_map);
  redis::RedisReaderTimelines timelines(stores.redis);
  timeline::Reader reader(
      truth, timelines, stores.installation.window, [] { return std::string(); },
      stores.installation.own_posts);
  const auto read = [&](uint64_t i) {
    timeline::Page page;
    bench::Must(reader.Home(
        Reader(config, i), {.limit = config.limit, .older_than = ends[i % config.readers]}, &page));
    bench::Must(page.items.size() == config.limit && page.cached == 0, "no whole page below");
  };
  read(0);
  const bench::Stopwatch watch;
  for (uint64_t i = 0; i < config.pages; ++i) read(i);
  return watch.Seconds();
}

std::string NewestSql(const Config& config, const std::vector<UserId>& authors,
                      const Position& before) {
  std::string sql =
      "SELECT author_id, post_id, created_at_ms FROM author_post WHERE deleted = 0 AND hidden = 0 "
      "AND "
      "author_id IN (";
  mysql::AppendJoined(
      sql, authors, [](std::string& out, UserId author) { mysql::AppendNumber(out, Raw(author)); });
  return sql + ") AND created_at_ms < " + std::to_string(before.created_at) +
         " ORDER BY created_at_ms DESC, post_id DESC LIMIT " + std::to_string(config.limit);
}

double Bare(const Config& config, const Stores& stores) {
  const std::vector<Position> ends = Ends(config, stores);
  const ShardMap& map = stores.installation.shard_map;
  mysql::ShardConnections connections(stores.shards);
  const auto read = [&](uint64_t i) {
    const UserId reader = Reader(config, i);
    std::vector<std::vector<UserId>> authors(map.shards());
    bench::Must(connections.Run(map.ShardOf(reader), [&](mysql::Connection& connection) {
      connection.Query("SELECT dst FROM following WHERE state = 1 AND delivery <> 2 AND src = " +
                           std::to_string(Raw(reader)),
                       [&](const mysql::Row& row) {
                         const UserId author{row.UInt64(1)};
                         authors[map.ShardOf(author)].push_back(author);
                       });
    }));
    std::vector<Item> items;
    for (Shard shard = 0; shard < map.shards(); ++shard) {
      bench::Must(connections.Run(shard, [&](mysql::Connection& connection) {
        connection.Query(
            NewestSql(config, authors[shard], ends[i % config.readers]),
            [&](const mysql::Row& row) {
              items.push_back({PostId{row.UInt64(2)}, row.Int64(3), UserId{row.UInt64(1)}});
            });
      }));
    }
    std::sort(items.begin(), items.end(), IsNewer);
    bench::Must(items.size() >= config.limit, "no whole page");
  };
  read(0);
  const bench::Stopwatch watch;
  for (uint64_t i = 0; i < config.pages; ++i) read(i);
  return watch.Seconds();
}

// One connection that is kept open; blocks.
class Client {
 public:
  explicit Client(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    bench::Must(::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0,
                "nobody serves there");
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void Get(const std::string& path) {
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: bench\r\n\r\n";
    bench::Must(
        ::send(socket_, request.data(), request.size(), 0) == static_cast<ssize_t>(request.size()),
        "a request was not taken");
    answer_.clear();
    while (!Whole()) {
      char came[65536];
      const ssize_t size = ::recv(socket_, came, sizeof came, 0);
      bench::Must(size > 0, "the server closed the connection");
      answer_.append(came, static_cast<size_t>(size));
    }
    bench::Must(answer_.starts_with("HTTP/1.1 200"), answer_.substr(0, 300));
  }

 private:
  bool Whole() const {
    const size_t end = answer_.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    std::string head = answer_.substr(0, end);
    std::transform(head.begin(), head.end(), head.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    constexpr std::string_view kLength = "content-length: ";
    const size_t at = head.find(kLength);
    bench::Must(at != std::string::npos, "an answer without a length");
    size_t length = 0;
    std::from_chars(head.data() + at + kLength.size(), head.data() + head.size(), length);
    return answer_.size() >= end + 4 + length;
  }

  const int socket_;
  std::string answer_;
};

// The query's part that asks for the page behind so many items.
std::string Behind(const Config& config) {
  if (config.behind == 0) return {};
  const Stores stores(config);
  redis::RedisReaderTimelines timelines(stores.redis);
  const LivePageRead read = timelines.Do(ReadLivePage{0, Reader(config, 0), {}, config.behind});
  bench::Must(read.status);
  bench::Must(read.page.items.size() == config.behind, "a timeline of fewer items");
  return "&cursor=" + CursorText(timeline::PlaceOf(read.page.items.back()));
}

int Load(const Config& config) {
  const std::string behind = Behind(config);
  std::mutex mutex;
  std::vector<double> took;
  const auto prepare = [&](uint32_t thread) {
    auto client = std::make_shared<Client>(static_cast<uint16_t>(config.port));
    return std::function<void()>([&, thread, client] {
      std::vector<double> mine;
      const bench::Stopwatch watch;
      const double seconds = std::chrono::duration<double>(config.duration).count();
      const double pause =
          config.rate == 0 ? 0.0 : config.threads / static_cast<double>(config.rate);
      for (uint64_t i = thread; watch.Seconds() < seconds; i += config.threads) {
        // A page that came late is not made up for: its successors are as they would have been.
        const double due = pause * static_cast<double>(mine.size());
        if (due > watch.Seconds()) {
          std::this_thread::sleep_for(std::chrono::duration<double>(due - watch.Seconds()));
        }
        const bench::Stopwatch each;
        client->Get("/v1/users/" + ToString(Reader(config, i * 7919)) +
                    "/timeline?limit=" + std::to_string(config.limit) + behind);
        mine.push_back(each.Seconds() * 1e3);
      }
      const std::lock_guard lock(mutex);
      took.insert(took.end(), mine.begin(), mine.end());
    });
  };
  const double seconds = bench::SecondsOf(config.threads, prepare);
  bench::Must(!took.empty(), "no page came");
  std::sort(took.begin(), took.end());
  std::printf("{\"pages\": %zu, \"seconds\": %.6f, \"p50_ms\": %.4f, \"p99_ms\": %.4f}\n",
              took.size(), seconds, took[took.size() / 2], took[took.size() * 99 / 100]);
  return 0;
}

int Main(int argc, char** argv) {
  Config config;
  daemon::OptionTable table("fanline-bench-pages", "pages of home timelines");
  AddOptions(table, config);
  const std::string command = table.ParseOrExit(argc, argv).command;
  if (command == "load") return Load(config);
  const Stores stores(config);
  const double seconds = command == "library" ? Library(config, stores)
                         : command == "plain" ? Plain(config, stores)
                         : command == "below" ? Below(config, stores)
                                              : Bare(config, stores);
  std::printf("{\"pages\": %llu, \"seconds\": %.6f}\n",
              static_cast<unsigned long long>(config.pages), seconds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-bench-pages", [&] { return Main(argc, argv); });
}
