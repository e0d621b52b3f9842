#include "backends/kafka/tools/log_reader.h"

#include <utility>

#include "backends/kafka/client.h"
#include "backends/kafka/errors.h"

namespace fanline::kafka {
namespace {

constexpr int kPollMs = 200;

// A consumer without a group; partitions are read one by one.
ClientConfig ConfigOf(const ClientOptions& options) {
  return ClientConfig(options,
                      {{"queued.max.messages.kbytes", "16384"}, {"fetch.wait.max.ms", "100"}},
                      {{"allow.auto.create.topics", "false"},
                       {"auto.commit.enable", "false"},
                       {"auto.offset.reset", "error"},
                       {"enable.partition.eof", "true"},
                       {"check.crcs", "true"}});
}

// A partition that is being read; destroyed before its topic.
class Fetching {
 public:
  Fetching(rd_kafka_topic_t* topic, int32_t partition, int64_t from)
      : topic_(topic), partition_(partition) {
    if (rd_kafka_consume_start(topic_, partition_, from) != 0) error_ = rd_kafka_last_error();
  }
  ~Fetching() {
    if (error_ == RD_KAFKA_RESP_ERR_NO_ERROR) rd_kafka_consume_stop(topic_, partition_);
  }
  Fetching(const Fetching&) = delete;
  Fetching& operator=(const Fetching&) = delete;

  rd_kafka_resp_err_t error() const { return error_; }
  MessageHandle Next() { return MessageHandle(rd_kafka_consume(topic_, partition_, kPollMs)); }

 private:
  rd_kafka_topic_t* const topic_;
  const int32_t partition_;
  rd_kafka_resp_err_t error_ = RD_KAFKA_RESP_ERR_NO_ERROR;
};

}  // namespace

LogReader::LogReader(ClientOptions options, Duration patience, LogSink log)
    : patience_(patience),
      client_(std::make_unique<Client>(RD_KAFKA_CONSUMER, ConfigOf(options), std::move(log),
                                       nullptr)) {}
LogReader::~LogReader() = default;

// `which`: a time, RD_KAFKA_OFFSET_BEGINNING or RD_KAFKA_OFFSET_END.
Status LogReader::Offsets(const std::string& topic, int32_t partitions, int64_t which,
                          std::vector<int64_t>* found) {
  const std::string what = "looking up what stands in " + topic;
  const PartitionList list = ListOfAll(topic, partitions, which);
  const auto error = rd_kafka_offsets_for_times(client_->get(), list.get(), ToMs(patience_));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return StatusOf(error, what);
  found->clear();
  for (int i = 0; i < list->cnt; ++i) {
    if (list->elems[i].err != RD_KAFKA_RESP_ERR_NO_ERROR) return StatusOf(list->elems[i].err, what);
    found->push_back(list->elems[i].offset);
  }
  return Status::Done();
}

Status LogReader::Look(const std::string& topic, int32_t partitions, UnixMs since,
                       std::vector<LogSpan>* spans) {
  std::vector<int64_t> from, to;
  Status status = Offsets(topic, partitions, since > 0 ? since : RD_KAFKA_OFFSET_BEGINNING, &from);
  if (status.done()) status = Offsets(topic, partitions, RD_KAFKA_OFFSET_END, &to);
  if (!status.done()) return status;
  spans->clear();
  for (int32_t partition = 0; partition < partitions; ++partition) {
    const auto at = static_cast<size_t>(partition);
    // Brokers answer a negative offset when no record is that new.
    spans->push_back({partition, from[at] < 0 ? to[at] : from[at], to[at]});
  }
  return Status::Done();
}

Status LogReader::Read(const std::string& topic, const LogSpan& span,
                       const std::function<bool(Record)>& take) {
  if (span.empty()) return Status::Done();
  const std::string what = "reading " + topic + "/" + std::to_string(span.partition);
  const TopicHandle handle(rd_kafka_topic_new(client_->get(), topic.c_str(), nullptr));
  if (!handle) return StatusOf(rd_kafka_last_error(), what);
  Fetching fetching(handle.get(), span.partition, span.from);
  if (fetching.error() != RD_KAFKA_RESP_ERR_NO_ERROR) return StatusOf(fetching.error(), what);
  Time until = MonoNow() + patience_;
  while (true) {
    const MessageHandle message = fetching.Next();
    if (!message) {
      if (MonoNow() >= until) return StatusOf(RD_KAFKA_RESP_ERR__TIMED_OUT, what);
      continue;
    }
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      if (message->offset >= span.to) return Status::Done();
      continue;
    }
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) return StatusOf(message->err, what);
    if (message->offset >= span.to) return Status::Done();
    until = MonoNow() + patience_;
    const bool last = message->offset + 1 == span.to;
    if (!take(RecordOf(*message, topic)) || last) return Status::Done();
  }
}

}  // namespace fanline::kafka
