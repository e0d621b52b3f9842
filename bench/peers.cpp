// fanline-bench-peers: what others do for the same posts, with the same Redis or in memory. The
// command says how; docs/benchmarks.md, "Peers", says what each is. `fill` makes the timelines of
// all that have a Redis, without the clock. Followers are drawn from --readers, of whom the first
// --live have a timeline.
//
// Prints {"deliveries": n, "seconds": s}: posts that came into live timelines. ring and pull also
// serve --pages first pages over a local socket, one call at a time, and print {"pages": n,
// "page_seconds": s, "page_cpu": s}, the latter of both ends.
#include <hiredis/hiredis.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <deque>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/mysql/sql/shard_connections.h"
#include "backends/options/mysql_settings.h"
#include "backends/options/redis_settings.h"
#include "bench/made_up.h"
#include "bench/pipeline.h"
#include "bench/round.h"
#include "bench/sets.h"
#include "bench/threads.h"
#include "daemon/options/options.h"
#include "daemon/run/main_guard.h"
#include "fanline/model/item.h"

using namespace fanline;

namespace {

struct Config {
  options::MysqlSettings mysql;
  options::RedisSettings redis;
  uint64_t live = 0, readers = 0, posts = 0, pages = 0, seed = 1;
  uint32_t per_post = 200;
  UnixMs newest = 0;
};

using Words = std::vector<std::string>;

constexpr uint32_t kWindow = 450, kLongest = 496, kPage = 50;  // items
constexpr uint32_t kThreads = 25, kFollowees = 200, kInFlight = 256;
constexpr uint32_t kAll = std::numeric_limits<uint32_t>::max();
constexpr std::string_view kLists = "pl", kMisskey = "pm", kNewestFirst = "pz", kMastodon = "pa";

// What is prepared before the clock starts: who gets which post, and the words of commands.
struct Work {
  Work(const Config& config, std::string_view kind)
      : followers(bench::Draw(config.posts, config.per_post, config.readers, config.seed)) {
    for (uint64_t i = 0; i < config.readers; ++i) keys.push_back(bench::KeyOf(kind, i));
    for (uint64_t i = 0; i < config.posts; ++i) {
      posts.push_back(ToString(bench::PostOf(config.newest + static_cast<UnixMs>(i), config.seed)));
    }
    for (size_t i = 0; i < followers.size(); ++i) {
      if (followers[i] < config.live) live.push_back(i);
    }
    bench::Must(!live.empty(), "no follower is live");
  }

  std::vector<uint32_t> followers;  // of one post after the other
  std::vector<size_t> live;         // places in `followers`
  std::vector<std::string> keys, posts;
};

struct Result {
  uint64_t deliveries = 0;
  double seconds = 0;
};

bool OneInTen(size_t number) { return bench::Mixed(number) % 10 == 0; }

void Fill(const Config& config) {
  bench::Pipeline pipeline(config.redis.addresses().front(), kInFlight);
  for (const std::string_view kind : {kLists, kMisskey, kNewestFirst, kMastodon}) {
    const std::string first = bench::KeyOf(kind, 0);
    pipeline.Send({"DEL", first});
    for (uint64_t i = kWindow; i-- > 0;) {  // oldest first
      const UnixMs at = config.newest - static_cast<UnixMs>(i + 1) * 60'000;
      const std::string post = ToString(bench::PostOf(at, i));
      if (kind == kLists) pipeline.Send({"LPUSH", first, post});
      if (kind == kMisskey) pipeline.Send({"LPUSH", first, "a" + post});  // its ids are no numbers
      if (kind == kNewestFirst) pipeline.Send({"ZADD", first, std::to_string(-at), post});
      if (kind == kMastodon) pipeline.Send({"ZADD", first, post, post});
    }
    bench::CopyFirst(pipeline, kind, config.live);
  }
  pipeline.Drain();
}

// ---- pipelines -------------------------------------------------------------------------------

// Asks about every follower, then sends what `act` makes of each answer above 0. A fixed number of
// commands is in flight, over the bounds of posts.
template <class Ask, class Act>
Result AskAndAct(const Config& config, const Work& work, const Ask& ask, const Act& act) {
  std::deque<size_t> asked;  // places in work.followers, and its end for what `act` made
  std::vector<std::pair<size_t, long long>> answers, now;
  bench::Pipeline pipeline(config.redis.addresses().front(), kInFlight,
                           [&](const redisReply& reply) {
                             const size_t which = asked.front();
                             asked.pop_front();
                             if (which != work.followers.size() && reply.integer > 0) {
                               answers.emplace_back(which, reply.integer);
                             }
                           });
  const auto send = [&](size_t which, const Words& words) {
    asked.push_back(which);
    pipeline.Send(words);
  };
  const auto act_on_answers = [&] {
    now.swap(answers);
    for (const auto& [which, answer] : now) {
      for (const Words& words : act(which, answer)) send(work.followers.size(), words);
    }
    const size_t count = now.size();
    now.clear();
    return count;
  };
  const bench::Stopwatch watch;
  uint64_t deliveries = 0;
  for (size_t i = 0; i < work.followers.size(); ++i) {
    send(i, ask(i));
    deliveries += act_on_answers();
  }
  pipeline.Drain();
  deliveries += act_on_answers();
  pipeline.Drain();
  return {deliveries, watch.Seconds()};
}

Result Lpushx(const Config& config) {
  const Work work(config, kLists);
  const auto key = [&](size_t i) { return work.keys[work.followers[i]]; };
  const std::string last = std::to_string(kWindow - 1);
  return AskAndAct(
      config, work,
      [&](size_t i) -> Words {
        return {"LPUSHX", key(i), work.posts[i / config.per_post]};
      },
      [&](size_t i, long long length) -> std::vector<Words> {
        if (length <= kLongest) return {};
        return {{"LTRIM", key(i), "0", last}};
      });
}

Result Exists(const Config& config) {
  const Work work(config, kNewestFirst);
  const auto key = [&](size_t i) { return work.keys[work.followers[i]]; };
  return AskAndAct(
      config, work,
      [&](size_t i) -> Words {
        return {"EXISTS", key(i)};
      },
      [&](size_t i, long long) {
        const size_t post = i / config.per_post;
        const UnixMs at = config.newest + static_cast<UnixMs>(post);
        std::vector<Words> words{{"ZADD", key(i), std::to_string(-at), work.posts[post]}};
        if (OneInTen(i)) {
          words.push_back({"ZREMRANGEBYRANK", key(i), std::to_string(kWindow), "-1"});
        }
        return words;
      });
}

Result Misskey(const Config& config) {
  const Work work(config, kMisskey);
  const std::string last = std::to_string(kWindow - 1);
  bench::Pipeline pipeline(config.redis.addresses().front(), kAll);
  const bench::Stopwatch watch;
  for (size_t i = 0; i < work.followers.size(); ++i) {
    const std::string& key = work.keys[work.followers[i]];
    pipeline.Send({"LPUSH", key, "a" + work.posts[i / config.per_post]});
    if (OneInTen(i)) pipeline.Send({"LTRIM", key, "0", last});
    if ((i + 1) % config.per_post == 0) pipeline.Drain();
  }
  return {work.live.size(), watch.Seconds()};
}

// ---- Mastodon: a job per delivery, a round trip per command -------------------------------------

// The commands of a post that is no reblog, in a follower's home feed.
void Insert(bench::Pipeline& redis, const std::string& key, const std::string& id) {
  redis.Send({"ZSCORE", key + ":reblogs", id});
  redis.Send({"ZADD", key, id, id});
  redis.Send({"ZREMRANGEBYRANK", key, "0", std::to_string(-int64_t{kWindow} - 1)});
  redis.Send({"ZREVRANGE", key, "40", "40", "WITHSCORES"});
  redis.Send({"ZRANGEBYSCORE", key + ":reblogs", "0", id});
  redis.Send({"EXISTS", "subscribed:" + key});
}

// As many rows by primary key as Mastodon reads: the post, its author, the follower and its user;
// nine of what the follower follows, blocks, mutes and filters, which are seldom there.
void Read(mysql::ShardConnections& shards, size_t post, uint64_t reader) {
  const auto user = std::to_string(1'000'000'000 + reader);
  const auto author = std::to_string(10'000'000 + post);
  const auto shard = static_cast<Shard>(reader % shards.config().shards.size());
  bench::Must(shards.Run(shard, [&](mysql::Connection& sql) {
    for (int i = 0; i < 4; ++i) {
      sql.Number("SELECT last_at FROM author WHERE author_id = " + (i < 2 ? author : user));
    }
    for (int i = 0; i < 9; ++i) {
      sql.Number("SELECT ver FROM following WHERE src = " + user + " AND dst = " + author);
    }
  }));
}

// Jobs wait in the queue when the clock starts.
Result Mastodon(const Config& config, bool queue, bool sql) {
  const std::string jobs = "pq:queue:default", job(220, 'x');  // as long as Sidekiq's
  const Work work(config, kMastodon);
  bench::Pipeline filler(config.redis.addresses().front(), kInFlight);
  for (size_t i = 0; queue && i < work.live.size(); ++i) filler.Send({"LPUSH", jobs, job});
  filler.Drain();
  std::atomic<uint64_t> next = 0;
  const double seconds = bench::SecondsOf(kThreads, [&](uint32_t) {
    auto redis = std::make_shared<bench::Pipeline>(config.redis.addresses().front(), 1);
    auto shards = std::make_shared<mysql::ShardConnections>(options::ToConfig(config.mysql));
    if (sql) Read(*shards, 0, 0), Read(*shards, 0, 1);  // opens both connections
    return [&, redis, shards] {
      for (size_t i = next++; i < work.live.size(); i = next++) {
        const size_t post = work.live[i] / config.per_post;
        const uint32_t reader = work.followers[work.live[i]];
        if (queue) redis->Send({"BRPOP", jobs, "2"});
        if (sql) Read(*shards, post, reader);
        Insert(*redis, work.keys[reader], work.posts[post]);
      }
    };
  });
  return {work.live.size(), seconds};
}

// ---- in memory, 16 bytes an item ----------------------------------------------------------------

struct Posted {
  uint64_t author, post;
};
using Page = std::array<Posted, kPage>;

// Fixed rings side by side. Item 0 of a ring is its newest.
class Rings {
 public:
  Rings(uint64_t rings, uint32_t size) : size_(size), items_(rings * size), newest_(rings, 0) {}
  void Put(uint64_t ring, Posted item) {
    uint32_t& at = newest_[ring];
    at = at + 1 == size_ ? 0 : at + 1;
    items_[ring * size_ + at] = item;
  }
  const Posted& Item(uint64_t ring, uint32_t number) const {
    const uint32_t newest = newest_[ring];
    return items_[ring * size_ + (newest >= number ? newest - number : newest + size_ - number)];
  }

 private:
  const uint32_t size_;
  std::vector<Posted> items_;
  std::vector<uint32_t> newest_;
};

// A ring of each live reader.
class Ring {
 public:
  explicit Ring(const Config& config) : timelines_(config.live, kWindow) {
    for (uint64_t i = 0; i < config.live * kWindow; ++i) timelines_.Put(i % config.live, {i, i});
    for (uint64_t i = 0; i < config.live; ++i) live_.emplace(i, i);
  }
  uint64_t Post(Posted item, std::span<const uint32_t> followers) {
    uint64_t deliveries = 0;
    for (const uint32_t follower : followers) {
      const auto found = live_.find(follower);
      if (found == live_.end()) continue;
      timelines_.Put(found->second, item);
      ++deliveries;
    }
    return deliveries;
  }
  void Read(uint64_t reader, Page& page) const {
    for (uint32_t i = 0; i < kPage; ++i) page[i] = timelines_.Item(reader, i);
  }

 private:
  Rings timelines_;
  std::unordered_map<uint64_t, uint64_t> live_;
};

// A queue of each author, as long as a page. There are as many authors as live readers.
class Pull {
 public:
  explicit Pull(const Config& config)
      : authors_(config.live),
        queues_(authors_, kPage),
        followed_(bench::Draw(config.live, kFollowees, authors_, config.seed)) {
    for (uint64_t i = 0; i < authors_ * kPage; ++i) {
      queues_.Put(bench::Mixed(i) % authors_, {i, i + 1});
    }
  }
  uint64_t Post(Posted item, std::span<const uint32_t>) {
    queues_.Put(item.author % authors_, item);
    return 0;
  }
  void Read(uint64_t reader, Page& page) {
    heads_.clear();
    for (size_t i = 0; i < kFollowees; ++i) {
      const uint32_t author = followed_[reader * kFollowees + i];
      heads_.push_back({queues_.Item(author, 0).post, author, 0});
    }
    std::ranges::make_heap(heads_, {}, &Head::post);
    for (Posted& item : page) {
      std::ranges::pop_heap(heads_, {}, &Head::post);
      Head& head = heads_.back();
      item = queues_.Item(head.author, head.number);
      head.post = queues_.Item(head.author, ++head.number).post;  // behind the last: unused
      std::ranges::push_heap(heads_, {}, &Head::post);
    }
  }

 private:
  struct Head {
    uint64_t post;
    uint32_t author, number;
  };
  const uint64_t authors_;
  Rings queues_;
  std::vector<uint32_t> followed_;  // of one reader after the other
  std::vector<Head> heads_;
};

// The reader's side asks for pages from a thread of its own, and is counted.
template <class Store>
void ServePages(const Config& config, Store& store) {
  std::array<int, 2> ends{};
  bench::Must(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()) == 0, "no pair of sockets");
  std::jthread server([&, end = ends[0]] {
    Page page;
    for (uint64_t reader = 0; recv(end, &reader, sizeof reader, 0) == sizeof reader;) {
      store.Read(reader, page);
      send(end, page.data(), sizeof page, 0);
    }
  });
  Page page;
  for (uint64_t i = 0; i < config.pages; ++i) {
    const uint64_t reader = i % config.live;
    send(ends[1], &reader, sizeof reader, 0);
    bench::Must(recv(ends[1], page.data(), sizeof page, 0) == sizeof page, "half a page");
  }
  close(ends[1]);
  server.join();
  close(ends[0]);
}

template <class Store>
void InMemory(const Config& config) {
  const auto followers = bench::Draw(config.posts, config.per_post, config.readers, config.seed);
  Store store(config);
  uint64_t deliveries = 0;
  const bench::Stopwatch posts;
  for (uint64_t i = 0; i < config.posts; ++i) {
    deliveries +=
        store.Post({i, Raw(bench::PostOf(config.newest + static_cast<UnixMs>(i), config.seed))},
                   std::span(followers).subspan(i * config.per_post, config.per_post));
  }
  const double seconds = posts.Seconds();
  const bench::Stopwatch pages;
  const std::clock_t posted = std::clock();
  ServePages(config, store);
  std::printf(
      "{\"deliveries\": %llu, \"seconds\": %.9f, \"pages\": %llu, \"page_seconds\": %.6f,"
      " \"page_cpu\": %.6f}\n",
      static_cast<unsigned long long>(deliveries), seconds,
      static_cast<unsigned long long>(config.pages), pages.Seconds(),
      static_cast<double>(std::clock() - posted) / CLOCKS_PER_SEC);
}

void Print(const Result& result) {
  std::printf("{\"deliveries\": %llu, \"seconds\": %.6f}\n",
              static_cast<unsigned long long>(result.deliveries), result.seconds);
}

struct Command {
  std::string name, help;
  void (*run)(const Config&);
};
using C = const Config&;
const std::array<Command, 9> kCommands{{
    {"fill", "makes the timelines", [](C c) { Fill(c), Print({}); }},
    {"lpushx", "LPUSHX of every follower", [](C c) { Print(Lpushx(c)); }},
    {"misskey", "a pipeline of LPUSH for every post", [](C c) { Print(Misskey(c)); }},
    {"exists", "EXISTS of every follower, then ZADD", [](C c) { Print(Exists(c)); }},
    {"mastodon", "its commands, one by one", [](C c) { Print(Mastodon(c, false, false)); }},
    {"mastodon-queue", "and its queue", [](C c) { Print(Mastodon(c, true, false)); }},
    {"mastodon-sql", "and its reads of SQL", [](C c) { Print(Mastodon(c, true, true)); }},
    {"ring", "pushed in memory", InMemory<Ring>},
    {"pull", "merged at read, in memory", InMemory<Pull>},
}};

void AddOptions(daemon::OptionTable& table, Config& config) {
  options::AddOptions(table, config.mysql);
  options::AddOptions(table, config.redis);
  table.Add("live", &config.live, "readers with a timeline")
      .Range(kFollowees, INT64_MAX)
      .Required();
  table.Add("readers", &config.readers, "of whom followers are drawn");
  table.Add("posts", &config.posts, "how many");
  table.Add("per-post", &config.per_post, "followers of each").Range(1, INT64_MAX);
  table.Add("newest", &config.newest, "time of the first post, milliseconds since 1970");
  table.Add("pages", &config.pages, "to serve from memory");
  table.Add("seed", &config.seed, "of the draw");
  for (const Command& each : kCommands) table.AddCommand(each.name, each.help);
  table.Check([&]() -> std::string {
    if (config.posts == 0 || config.per_post <= config.readers) return "";
    return "--per-post: there are not so many readers";
  });
}

int Main(int argc, char** argv) {
  Config config;
  daemon::OptionTable table("fanline-bench-peers", "what others do for the same posts");
  AddOptions(table, config);
  const std::string name = table.ParseOrExit(argc, argv).command;
  std::ranges::find(kCommands, name, &Command::name)->run(config);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-bench-peers", [&] { return Main(argc, argv); });
}
