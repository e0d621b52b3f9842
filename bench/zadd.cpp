// fanline-bench-zadd: the other side of the scales. Plain pipelined ZADD through hiredis, one
// member a call, a fixed number in flight, on sorted sets as long as the timelines; no fence, no
// trim, no liveness, nothing but what Redis itself costs.
//
//   fill   makes the sorted sets, without the clock
//   run    the deliveries: posts of `per-post` distinct sets each, drawn at random, each newer than
//          the last. Prints {"deliveries": n, "seconds": s, "cpu_seconds": s}, its own CPU
//   cut    cuts the sets back to the size they had
//
// The two others print {"sets": n}.
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "backends/options/redis_settings.h"
#include "bench/made_up.h"
#include "bench/pipeline.h"
#include "bench/round.h"
#include "bench/sets.h"
#include "daemon/options/options.h"
#include "daemon/run/main_guard.h"
#include "fanline/model/item.h"

using namespace fanline;

namespace {

struct Config {
  options::RedisSettings redis;
  uint64_t sets = 0;
  uint32_t size = 450;
  UnixMs newest = 0;
  uint64_t posts = 0;
  uint32_t per_post = 200;
  uint32_t in_flight = 256;
  uint64_t seed = 1;
};

constexpr std::string_view kKind = "bz";

void Fill(const Config& config) {
  bench::Pipeline pipeline(config.redis.addresses().front(), 256);
  std::vector<std::string> words{"ZADD", bench::KeyOf(kKind, 0)};
  for (uint64_t i = config.size; i-- > 0;) {  // oldest first: each goes to the head
    const UnixMs at = config.newest - static_cast<UnixMs>(i) * 60'000;
    words.push_back(std::to_string(-at));
    words.push_back(ToString(bench::PostOf(at, i)));
  }
  pipeline.Send(words);
  bench::CopyFirst(pipeline, kKind, config.sets);
  pipeline.Drain();
}

void CutBack(const Config& config) {
  bench::Pipeline pipeline(config.redis.addresses().front(), config.in_flight);
  for (uint64_t set = 0; set < config.sets; ++set) {
    pipeline.Send({"ZREMRANGEBYRANK", bench::KeyOf(kKind, set), std::to_string(config.size), "-1"});
  }
  pipeline.Drain();
}

struct Took {
  double seconds = 0;
  double cpu_seconds = 0;
};

Took Run(const Config& config) {
  const std::vector<uint32_t> drawn =
      bench::Draw(config.posts, config.per_post, config.sets, config.seed);
  std::vector<std::string> keys;
  for (uint64_t set = 0; set < config.sets; ++set) keys.push_back(bench::KeyOf(kKind, set));
  bench::Pipeline pipeline(config.redis.addresses().front(), config.in_flight);
  const bench::Stopwatch watch;
  const std::clock_t cpu_begin = std::clock();
  std::vector<std::string> words{"ZADD", "", "", ""};
  for (size_t i = 0; i < drawn.size(); ++i) {
    if (i % config.per_post == 0) {
      const UnixMs at = config.newest + static_cast<UnixMs>(i / config.per_post);
      words[2] = std::to_string(-at);
      words[3] = ToString(bench::PostOf(at, config.seed));
    }
    words[1] = keys[drawn[i]];
    pipeline.Send(words);
  }
  pipeline.Drain();
  return {watch.Seconds(), static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC};
}

void AddOptions(daemon::OptionTable& table, Config& config) {
  options::AddOptions(table, config.redis);
  table.Add("sets", &config.sets, "how many sorted sets there are").Range(1, INT64_MAX).Required();
  table.Add("size", &config.size, "items of each").Range(1, INT64_MAX);
  table.Add("newest", &config.newest, "time of the (next) newest item, milliseconds since 1970");
}

void AddRunOptions(daemon::OptionTable& table, Config& config) {
  table.Add("posts", &config.posts, "how many to deliver").Range(1, INT64_MAX).Required();
  table.Add("per-post", &config.per_post, "sets each is delivered to").Range(1, INT64_MAX);
  table.Add("in-flight", &config.in_flight, "calls sent ahead").Range(1, 100'000);
  table.Add("seed", &config.seed, "of the draw");
}

int Main(int argc, char** argv) {
  Config config;
  daemon::OptionTable table("fanline-bench-zadd", "plain pipelined ZADD");
  AddOptions(table, config);
  table.AddCommand("fill", "makes the sorted sets");
  table.AddCommand("cut", "cuts them back to --size");
  AddRunOptions(table.AddCommand("run", "delivers"), config);
  table.Check([&]() -> std::string {
    return config.per_post <= config.sets ? "" : "--per-post: there are not so many sets";
  });
  const std::string command = table.ParseOrExit(argc, argv).command;

  if (command == "run") {
    const Took took = Run(config);
    std::printf("{\"deliveries\": %llu, \"seconds\": %.6f, \"cpu_seconds\": %.6f}\n",
                static_cast<unsigned long long>(config.posts * config.per_post), took.seconds,
                took.cpu_seconds);
    return 0;
  }
  command == "fill" ? Fill(config) : CutBack(config);
  std::printf("{\"sets\": %llu}\n", static_cast<unsigned long long>(config.sets));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-bench-zadd", [&] { return Main(argc, argv); });
}
