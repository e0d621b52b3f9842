// fanline-bench-pair-log: relation-log as a reconciler reads it.
//
//   fill      appends the messages of so many edges, without the clock; once per installation
//   machine   our consumer, decoding and the pair tracker, in a group of its own (--group, new each
//             time), which commits as the tracker orders
//   count     the other side: a bare librdkafka consumer, same settings of the client and of
//             fetching, no group, that counts records
//
// The clock runs from when reading is let go, all partitions at their start, until the last record
// was dealt with. Prints {"records": n, "seconds": s}.
#include <atomic>
#include <cstdio>

#include "backends/kafka/admin.h"
#include "backends/kafka/client.h"
#include "backends/kafka/consumer.h"
#include "backends/kafka/producer.h"
#include "backends/options/kafka_settings.h"
#include "bench/made_pairs.h"
#include "bench/round.h"
#include "daemon/clock.h"
#include "daemon/options/options.h"
#include "daemon/run/main_guard.h"
#include "daemon/wakeup.h"
#include "reconciler/pair_tracker.h"

using namespace fanline;
using reconciler::PairInput;
using reconciler::PairRecord;

namespace {

constexpr auto kPatience = std::chrono::seconds(30);
constexpr size_t kPerPoll = 2'000;

struct Config {
  options::KafkaSettings kafka;
  uint64_t edges = 0;
  std::string group = "fanline-bench";
};

void AddOptions(daemon::OptionTable& table, Config& config) {
  options::AddOptions(table, config.kafka);
  table.Add("edges", &config.edges, "how many, in hundreds; two messages each")
      .AtLeast(100)
      .Required();
  table.Add("group", &config.group, "the consumer group");
  table.Check([&config]() -> std::string {
    return config.edges % bench::kPairBlock == 0 ? "" : "--edges: hundreds";
  });
  table.AddCommand("fill", "appends the messages");
  table.AddCommand("machine", "consumer, decoding and pair tracker");
  table.AddCommand("count", "a bare consumer");
}

void Quiet(LogLevel, const std::string&) {}

// Fetching is not held back on either side: by default, a librdkafka client with 100,000 records
// queued naps for up to a second, which at these rates is all one would measure.
kafka::ClientOptions ClientOf(const Config& config) {
  kafka::ClientOptions client = options::ToOptions(config.kafka, "fanline-bench-pair-log");
  client.properties["queued.min.messages"] = "10000000";
  client.properties["queued.max.messages.kbytes"] = "262144";
  return client;
}

int32_t Partitions(const Config& config) {
  kafka::Admin admin(ClientOf(config), kPatience, Quiet);
  int32_t partitions = 0;
  bench::Must(admin.CountPartitions(kRelationLogTopic, &partitions));
  bench::Must(partitions > 0, "there is no relation-log");
  return partitions;
}

void Fill(const Config& config) {
  std::atomic<uint64_t> failed = 0;
  kafka::ProducerOptions options;
  options.client = ClientOf(config);
  options.linger = std::chrono::milliseconds(5);
  kafka::Producer producer(options, Quiet);
  uint64_t appended = 0;
  const auto flush = [&] {
    bench::Must(producer.Flush(kPatience), "no acknowledgement in time");
    bench::Must(failed == 0, "the broker refused messages");
  };
  bench::ForEachPairMessage(config.edges, [&](const RelationMessage& message) {
    producer.Produce(kRelationLogTopic, kafka::kAnyPartition, RelationLogKey(KeyOf(message)),
                     EncodeRelationMessage(message), {}, [&failed](const Status& status) {
                       if (!status.done()) ++failed;
                     });
    if (++appended % 20'000 == 0) flush();
  });
  flush();
}

PairRecord Decode(const Record& record) {
  const auto decoded = DecodeRelationMessage(record.value);
  const auto* message = std::get_if<RelationMessage>(&decoded);
  bench::Must(message != nullptr, "a record is no message of relation-log");
  PairRecord out;
  out.partition = record.partition;
  out.offset = record.offset;
  out.appended = record.timestamp;
  out.edge = KeyOf(*message);
  if (const auto* written = std::get_if<EdgeWritten>(message)) {
    out.kind = PairRecord::Kind::kWritten;
    out.ver = written->edge.ver;
  } else {
    out.kind = PairRecord::Kind::kMirrored;
    out.ver = std::get<EdgeMirrored>(*message).ver;
  }
  return out;
}

// A reconciler's loop without checks: a healthy log needs none.
class MachineRun {
 public:
  explicit MachineRun(const Config& config)
      : consumer_({.client = ClientOf(config),
                   .group = config.group,
                   .topic = kRelationLogTopic,
                   .wake_fd = wakeup_.fd()},
                  Quiet),
        partitions_(static_cast<size_t>(Partitions(config))) {}

  double Run(uint64_t records) {
    const bench::Stopwatch joining;
    while (inputs_.size() < partitions_) {  // nothing flows before the tracker orders to seek
      bench::Must(joining.Seconds() < 30, "no partitions in time");
      Take();
    }
    const bench::Stopwatch watch;
    for (;;) {
      consumer_.Apply(tracker_.Step(inputs_, daemon::SystemNow()).orders);
      if (taken_ >= records) break;
      bench::Must(watch.Seconds() < 60, "not all records came in time");
      inputs_.clear();
      Take();
    }
    const double seconds = watch.Seconds();
    bench::Must(taken_ == records && tracker_.pending() == 0, "a pair was not found");
    consumer_.Close(kPatience);
    return seconds;
  }

 private:
  // Sleeps when there is nothing.
  void Take() {
    events_.clear();
    consumer_.Poll(kPerPoll, events_);
    if (events_.empty()) wakeup_.Wait(std::chrono::milliseconds(100));
    for (const kafka::ConsumerEvent& event : events_) {
      if (const auto* record = std::get_if<Record>(&event)) {
        ++taken_;
        inputs_.emplace_back(Decode(*record));
      } else if (const auto* assigned = std::get_if<PartitionAssigned>(&event)) {
        inputs_.emplace_back(*assigned);
      } else if (std::holds_alternative<PartitionRevoked>(event)) {
        throw std::runtime_error("a partition went away");
      }
    }
  }

  daemon::Wakeup wakeup_;
  kafka::Consumer consumer_;
  const size_t partitions_;
  reconciler::Metrics metrics_;
  reconciler::PairTracker tracker_{{}, metrics_};
  std::vector<kafka::ConsumerEvent> events_;
  std::vector<PairInput> inputs_;
  uint64_t taken_ = 0;
};

kafka::ClientConfig BareConfig(const Config& config) {
  const kafka::ConsumerOptions ours;
  return {ClientOf(config),
          {{"fetch.wait.max.ms", std::to_string(ours.fetch_wait.count())}},
          {{"group.id", config.group},
           {"auto.offset.reset", "error"},
           {"enable.auto.commit", "false"},
           {"enable.auto.offset.store", "false"},
           {"enable.partition.eof", "false"}}};
}

double Count(const Config& config, uint64_t records) {
  kafka::Client client(RD_KAFKA_CONSUMER, BareConfig(config), Quiet, nullptr);
  rd_kafka_poll_set_consumer(client.get());
  const int32_t partitions = Partitions(config);
  const kafka::PartitionList all = kafka::NewPartitionList(static_cast<size_t>(partitions));
  for (int32_t i = 0; i < partitions; ++i) {
    rd_kafka_topic_partition_list_add(all.get(), kRelationLogTopic, i)->offset =
        RD_KAFKA_OFFSET_BEGINNING;
  }
  const rd_kafka_metadata_t* metadata =
      nullptr;  // connects, as the other side has before its clock
  rd_kafka_metadata(client.get(), 1, nullptr, &metadata, 10'000);
  const kafka::MetadataHandle guard(metadata);

  const bench::Stopwatch watch;
  rd_kafka_assign(client.get(), all.get());
  uint64_t taken = 0;
  while (taken < records) {
    const kafka::MessageHandle message(rd_kafka_consumer_poll(client.get(), 100));
    bench::Must(watch.Seconds() < 60, "not all records came in time");
    if (message && message->err == RD_KAFKA_RESP_ERR_NO_ERROR) ++taken;
  }
  const double seconds = watch.Seconds();
  rd_kafka_consumer_close(client.get());
  return seconds;
}

int Main(int argc, char** argv) {
  Config config;
  daemon::OptionTable table("fanline-bench-pair-log", "reads relation-log");
  AddOptions(table, config);
  const std::string command = table.ParseOrExit(argc, argv).command;

  const uint64_t records = 2 * config.edges;
  double seconds = 0;
  if (command == "fill") Fill(config);
  if (command == "machine") seconds = MachineRun(config).Run(records);
  if (command == "count") seconds = Count(config, records);
  std::printf("{\"records\": %llu, \"seconds\": %.6f}\n", static_cast<unsigned long long>(records),
              seconds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::GuardedMain("fanline-bench-pair-log", [&] { return Main(argc, argv); });
}
