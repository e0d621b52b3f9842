// fanline-bench-publish: puts published events into the feed topic, as JSON, one per author and
// turn, as fast as it goes or at a steady rate, and returns when the broker has acknowledged all.
// Prints {"events": n, "seconds": s}.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include "backends/kafka/producer.h"
#include "backends/options/kafka_settings.h"
#include "bench/made_up.h"
#include "daemon/options/options.h"
#include "daemon/run/main_guard.h"
#include "fanline/wire/event_codec.h"

using namespace fanline;

namespace {

struct Config {
  options::KafkaSettings kafka;
  options::TopicSettings topics;
  uint64_t first_author = 1;
  uint64_t authors = 0;
  uint64_t turns = 1;
  UnixMs created_at = 0;
  double rate = 0;
  std::chrono::milliseconds linger{5};
};

void AddOptions(daemon::OptionTable& table, Config& config) {
  options::AddOptions(table, config.kafka);
  options::AddFeedTopic(table, config.topics);
  table.Add("first-author", &config.first_author, "the first one's id").Range(1, INT64_MAX);
  table.Add("authors", &config.authors, "how many publish, their ids in a row").Required();
  table.Add("turns", &config.turns, "posts of each, all authors' first posts first")
      .Range(1, INT64_MAX);
  table
      .Add("created-at", &config.created_at,
           "time of the first post, in milliseconds since 1970; each next one is 1 ms later")
      .Required();
  table.Add("rate", &config.rate, "events per second; 0: as fast as it goes").Range(0, 1'000'000);
  table.Add("linger", &config.linger, "how long an event waits for others of its partition");
}

constexpr auto kPatience = std::chrono::seconds(30);
constexpr uint64_t kFlushEvery = 20'000;

class Publisher {
 public:
  explicit Publisher(const Config& config) : config_(config), producer_(Options(config), nullptr) {}

  void Publish(uint64_t author, UnixMs created_at) {
    const PostId post = bench::PostOf(created_at, author);
    const FeedEvent event{EventKind::kPublished, post, UserId{author}, created_at};
    producer_.Produce(config_.topics.feed, kafka::kAnyPartition, ToString(post),
                      EncodeEventJson(event), {{"content-type", std::string(kJsonContentType)}},
                      [this](const Status& s) {
                        if (!s.done()) ++failed_;
                      });
    if (++published_ % kFlushEvery == 0) Flush();
  }

  void Flush() {
    if (!producer_.Flush(kPatience)) throw std::runtime_error("no acknowledgement in time");
    if (failed_ > 0) throw std::runtime_error("the broker refused events");
  }

 private:
  static kafka::ProducerOptions Options(const Config& config) {
    kafka::ProducerOptions options;
    options.client = options::ToOptions(config.kafka, "fanline-bench-publish");
    options.linger = config.linger;
    return options;
  }

  const Config& config_;
  std::atomic<uint64_t> failed_{0};
  uint64_t published_ = 0;
  kafka::Producer producer_;  // last: its thread calls back
};

int Main(int argc, char** argv) {
  Config config;
  daemon::OptionTable table("fanline-bench-publish", "fills the feed topic");
  AddOptions(table, config);
  table.ParseOrExit(argc, argv);

  const auto begin = std::chrono::steady_clock::now();
  Publisher publisher(config);
  UnixMs created_at = config.created_at;
  for (uint64_t turn = 0; turn < config.turns; ++turn) {
    for (uint64_t i = 0; i < config.authors; ++i) {
      if (config.rate > 0) {
        const auto due = std::chrono::duration<double>((turn * config.authors + i) / config.rate);
        std::this_thread::sleep_until(
            begin + std::chrono::duration_cast<std::chrono::steady_clock::duration>(due));
      }
      publisher.Publish(config.first_author + i, created_at++);
    }
  }
  publisher.Flush();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("{\"events\": %llu, \"seconds\": %.6f}\n",
              static_cast<unsigned long long>(config.turns * config.authors), took.count());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-bench-publish", [&] { return Main(argc, argv); });
}
