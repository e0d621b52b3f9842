// fanline-bench-hops: two bare Kafka hops, the other side of publish-to-last-delivery. Records are
// appended at a steady rate to one topic; a relay takes each and appends one to every partition of
// a second topic, where a last consumer takes them. Bare librdkafka clients with the durability and
// the lingers of ours, no work between the hops. Meanwhile two threads keep `--busy` cores busy.
//
// Prints {"records": n, "p50_ms": .., "p99_ms": ..}: from the append until the last of a record's
// copies was taken. The first second does not count, nor what came before it to warm up.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "backends/kafka/admin.h"
#include "backends/kafka/client.h"
#include "backends/options/kafka_settings.h"
#include "bench/round.h"
#include "daemon/options/options.h"
#include "daemon/run/main_guard.h"

using namespace fanline;

namespace {

constexpr auto kPatience = std::chrono::seconds(30);
constexpr const char* kFirst = "bench-hops-first";
constexpr const char* kSecond = "bench-hops-second";
constexpr uint64_t kPayload = 120;        // bytes; an event of ours, as JSON
constexpr uint64_t kWarmUp = UINT64_MAX;  // the number of a record that is not measured

struct Config {
  options::KafkaSettings kafka;
  uint64_t records = 0;
  double rate = 0;
  uint64_t partitions = 16;
  uint64_t first_partitions = 8;
  std::chrono::milliseconds publisher_linger{5};
  std::chrono::milliseconds linger{0};
  double busy = 0;
};

void AddOptions(daemon::OptionTable& table, Config& config) {
  options::AddOptions(table, config.kafka);
  table.Add("records", &config.records, "how many").AtLeast(1).Required();
  table.Add("rate", &config.rate, "records per second").Range(1, 1'000'000).Required();
  table.Add("partitions", &config.partitions, "of the second topic").Range(1, 1'024);
  table.Add("linger", &config.linger, "of the relay");
  table.Add("busy", &config.busy, "cores that other work keeps busy").Range(0, 64);
}

void Quiet(LogLevel, const std::string&) {}

using fanline::MonoNow;

class Producer {
 public:
  Producer(const Config& config, std::chrono::milliseconds linger)
      : client_(RD_KAFKA_PRODUCER,
                {options::ToOptions(config.kafka, "fanline-bench-hops"),
                 {{"linger.ms", std::to_string(linger.count())}},
                 {{"enable.idempotence", "true"}, {"acks", "all"}}},
                Quiet, nullptr) {}

  void Send(const char* topic, int32_t partition, const void* payload) {
    const auto error =
        rd_kafka_producev(client_.get(), RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(partition),
                          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                          RD_KAFKA_V_VALUE(const_cast<void*>(payload), kPayload), RD_KAFKA_V_END);
    bench::Must(error == RD_KAFKA_RESP_ERR_NO_ERROR, rd_kafka_err2str(error));
    rd_kafka_poll(client_.get(), 0);
  }

 private:
  kafka::Client client_;
};

// Takes what is appended to all partitions of a topic from the moment it was made.
class Consumer {
 public:
  Consumer(const Config& config, const char* topic, uint64_t partitions)
      : client_(RD_KAFKA_CONSUMER,
                {options::ToOptions(config.kafka, "fanline-bench-hops"),
                 {{"fetch.wait.max.ms", "100"}},
                 {{"group.id", "fanline-bench-hops"}, {"enable.auto.commit", "false"}}},
                Quiet, nullptr) {
    rd_kafka_poll_set_consumer(client_.get());
    const kafka::PartitionList all = kafka::NewPartitionList(partitions);
    for (int32_t i = 0; i < static_cast<int32_t>(partitions); ++i) {
      int64_t low = 0, high = 0;
      rd_kafka_query_watermark_offsets(client_.get(), topic, i, &low, &high, 10'000);
      rd_kafka_topic_partition_list_add(all.get(), topic, i)->offset = high;
    }
    rd_kafka_assign(client_.get(), all.get());
  }

  template <typename F>
  void TakeUntil(const std::atomic<bool>& stop, F take) {
    while (!stop) {
      const kafka::MessageHandle message(rd_kafka_consumer_poll(client_.get(), 100));
      if (message && message->err == RD_KAFKA_RESP_ERR_NO_ERROR) take(*message);
    }
    rd_kafka_consumer_close(client_.get());
  }

 private:
  kafka::Client client_;
};

// Works for that share of each millisecond.
void KeepBusy(double share, const std::atomic<bool>& stop) {
  const auto work = std::chrono::duration_cast<Duration>(std::chrono::microseconds(1000) * share);
  Time next = MonoNow();
  while (!stop) {
    const Time until = MonoNow() + work;
    while (MonoNow() < until) {
    }
    next = std::max(next + std::chrono::milliseconds(1), MonoNow());
    std::this_thread::sleep_until(next);
  }
}

uint64_t NumberOf(const void* payload) {
  uint64_t number = 0;
  std::memcpy(&number, payload, sizeof number);
  return number;
}

void MakeTopics(const Config& config) {
  kafka::Admin admin(options::ToOptions(config.kafka, "fanline-bench-hops"), kPatience, Quiet);
  bench::Must(admin.CreateTopic({kFirst, static_cast<int32_t>(config.first_partitions), -1, {}}));
  bench::Must(admin.CreateTopic({kSecond, static_cast<int32_t>(config.partitions), -1, {}}));
}

class Hops {
 public:
  explicit Hops(const Config& config)
      : config_(config), sent_(config.records), taken_(config.records), took_(config.records) {}

  void Run() {
    MakeTopics(config_);
    Consumer first(config_, kFirst, config_.first_partitions);
    Consumer second(config_, kSecond, config_.partitions);
    std::vector<std::thread> threads;
    threads.emplace_back([&] { Relay(first); });
    threads.emplace_back([&] { second.TakeUntil(stop_, [this](const auto& m) { Take(m); }); });
    for (int i = 0; i < 2; ++i) threads.emplace_back([&] { KeepBusy(config_.busy / 2, stop_); });
    Publish();
    stop_ = true;
    for (std::thread& thread : threads) thread.join();
  }

  // After Run.
  std::vector<double> Milliseconds() const {
    const auto skip = static_cast<size_t>(std::min(config_.rate, config_.records / 2.0));
    std::vector<double> sorted;
    for (size_t i = skip; i < took_.size(); ++i) {
      sorted.push_back(std::chrono::duration<double, std::milli>(took_[i]).count());
    }
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  }

 private:
  void Publish() {
    Producer producer(config_, config_.publisher_linger);
    char payload[kPayload] = {};
    WarmUp(producer, payload);
    const Time begin = MonoNow();
    for (uint64_t i = 0; i < config_.records; ++i) {
      std::this_thread::sleep_until(begin + std::chrono::duration_cast<Duration>(
                                                std::chrono::duration<double>(i / config_.rate)));
      std::memcpy(payload, &i, sizeof i);
      sent_[i] = MonoNow();
      producer.Send(kFirst, static_cast<int32_t>(i % config_.first_partitions), payload);
    }
    Await(complete_, config_.records);
  }

  // Until every partition of both topics is read.
  void WarmUp(Producer& producer, char* payload) {
    std::memcpy(payload, &kWarmUp, sizeof kWarmUp);
    for (uint64_t i = 0; i < config_.first_partitions; ++i) {
      producer.Send(kFirst, static_cast<int32_t>(i), payload);
    }
    Await(warmed_up_, config_.first_partitions * config_.partitions);
  }

  static void Await(const std::atomic<uint64_t>& count, uint64_t wanted) {
    const bench::Stopwatch waiting;
    while (count < wanted && waiting.Seconds() < 30) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    bench::Must(count == wanted, "not all records came in time");
  }

  void Relay(Consumer& first) {
    Producer producer(config_, config_.linger);
    first.TakeUntil(stop_, [&](const rd_kafka_message_t& message) {
      for (uint64_t i = 0; i < config_.partitions; ++i) {
        producer.Send(kSecond, static_cast<int32_t>(i), message.payload);
      }
    });
  }

  void Take(const rd_kafka_message_t& message) {
    const uint64_t number = NumberOf(message.payload);
    if (number == kWarmUp) {
      ++warmed_up_;
      return;
    }
    if (++taken_.at(number) < config_.partitions) return;
    took_[number] = MonoNow() - sent_[number];
    ++complete_;
  }

  const Config& config_;
  std::vector<Time> sent_;
  std::vector<uint64_t> taken_;  // copies
  std::vector<Duration> took_;
  std::atomic<uint64_t> complete_{0};
  std::atomic<uint64_t> warmed_up_{0};  // copies
  std::atomic<bool> stop_{false};
};

int Main(int argc, char** argv) {
  Config config;
  daemon::OptionTable table("fanline-bench-hops", "two bare Kafka hops");
  AddOptions(table, config);
  table.ParseOrExit(argc, argv);
  Hops hops(config);
  hops.Run();
  const std::vector<double> sorted = hops.Milliseconds();
  std::printf("{\"records\": %zu, \"p50_ms\": %.3f, \"p99_ms\": %.3f}\n", sorted.size(),
              sorted[sorted.size() / 2], sorted[sorted.size() * 99 / 100]);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-bench-hops", [&] { return Main(argc, argv); });
}
