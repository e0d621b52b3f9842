#include "backends/kafka/consumer.h"

#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "backends/kafka/errors.h"

namespace fanline::kafka {
namespace {

constexpr Duration kRevokeCommitLimit = std::chrono::seconds(2);
constexpr Duration kSettleAgainAfter = std::chrono::milliseconds(5);
constexpr Duration kEndsEvery = std::chrono::seconds(5);
constexpr Duration kEndsEveryWhileAway = std::chrono::seconds(1);
constexpr uint64_t kWakePayload = 1;
constexpr int16_t kFetch = 1;  // ApiKey

std::string Ms(std::chrono::milliseconds ms) { return std::to_string(ms.count()); }

rd_kafka_resp_err_t OnResponse(rd_kafka_t*, int, const char*, int32_t, int16_t api_key, int16_t,
                               int32_t, size_t, int64_t, rd_kafka_resp_err_t, void* context) {
  if (api_key == kFetch) static_cast<const ClientContext*>(context)->rest.Take();
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_resp_err_t OnNew(rd_kafka_t* client, const rd_kafka_conf_t*, void*, char*, size_t) {
  return rd_kafka_interceptor_add_on_response_received(client, "fetch rest", OnResponse,
                                                       &ContextOf(rd_kafka_opaque(client)));
}

// Until the process ends: a thread is still inside it. Kept where a leak checker finds it.
void LeaveBehind(std::unique_ptr<Client> client) {
  static std::mutex mutex;
  static auto* const left = new std::vector<Client*>;
  client->log().Silence();
  const std::lock_guard lock(mutex);
  left->push_back(client.release());
}

}  // namespace

Consumer::Consumer(ConsumerOptions options, LogSink log)
    : options_(std::move(options)),
      client_(
          std::make_unique<Client>(RD_KAFKA_CONSUMER, Configure(options_), std::move(log), this)),
      flow_(*client_, options_.topic),
      commits_(*client_, options_.topic),
      lookup_(*client_, options_.topic, [this] { Wake(); }) {
  rd_kafka_poll_set_consumer(client_->get());
  if (options_.wake_fd >= 0) {
    const QueueHandle queue(rd_kafka_queue_get_consumer(client_->get()));
    rd_kafka_queue_io_event_enable(queue.get(), options_.wake_fd, &kWakePayload,
                                   sizeof kWakePayload);
  }
  const PartitionList topics = NewPartitionList(1);
  rd_kafka_topic_partition_list_add(topics.get(), options_.topic.c_str(), RD_KAFKA_PARTITION_UA);
  const rd_kafka_resp_err_t error = rd_kafka_subscribe(client_->get(), topics.get());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
    throw std::runtime_error("kafka: subscribing to " + options_.topic + ": " + Describe(error));
}

ClientConfig Consumer::Configure(const ConsumerOptions& options) {
  ClientConfig config(
      options.client,
      {{"session.timeout.ms", Ms(options.session_timeout)},
       // How soon a member hears of a rebalance.
       {"heartbeat.interval.ms",
        Ms(std::min(options.session_timeout / 6, std::chrono::milliseconds(1000)))},
       {"max.poll.interval.ms", Ms(std::max(options.max_poll_interval, options.session_timeout))},
       {"fetch.wait.max.ms", Ms(options.fetch_wait)},
       {"queued.max.messages.kbytes", std::to_string(options.queued_kbytes)}},
      {{"group.id", options.group},
       {"partition.assignment.strategy", "range"},
       {"auto.offset.reset", "error"},
       {"enable.auto.commit", "false"},
       {"enable.auto.offset.store", "false"},
       // A byte that went bad on a broker's disk is an error, not another record.
       {"check.crcs", "true"},
       {"enable.partition.eof", "false"}});
  rd_kafka_conf_interceptor_add_on_new(config.get(), "fetch rest", OnNew, nullptr);
  // Only our own polls call these two.
  rd_kafka_conf_set_rebalance_cb(
      config.get(), [](rd_kafka_t*, rd_kafka_resp_err_t what, rd_kafka_topic_partition_list_t* list,
                       void* opaque) {
        what == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS ? Of(opaque).OnAssigned(*list)
                                                     : Of(opaque).OnRevoked();
      });
  rd_kafka_conf_set_offset_commit_cb(
      config.get(),
      [](rd_kafka_t*, rd_kafka_resp_err_t error, rd_kafka_topic_partition_list_t* offsets,
         void* opaque) { Of(opaque).commits_.OnAnswer(error, *offsets, MonoNow()); });
  return config;
}

void Consumer::Poll(size_t max_records, std::vector<ConsumerEvent>& out) {
  if (fenced_) return;  // librdkafka would join again
  out_ = &out;
  TakeAnswers();
  size_t records = 0;
  const UnixMs now = UnixNow();
  while (records < max_records) {
    const MessageHandle message(rd_kafka_consumer_poll(client_->get(), 0));
    if (!message) break;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      OnError(*message);
    } else if (flow_.Accept(message->partition, message->offset)) {
      Record record = RecordOf(*message, options_.topic);
      parked_.Forget(record.partition);
      Reported& reported = reported_[record.partition];
      reported.marks.Existed(record.offset + 1, record.timestamp);
      reported.times.Add(record.offset + 1, record.timestamp, now);
      out.emplace_back(std::move(record));
      ++records;
    }
  }
  if (records == max_records) Wake();
  GiveUpIfFenced();
  out_ = nullptr;
  Tend();
}

// The only fatal error of a consumer. The brokers go on with the newer member of that id, and
// librdkafka would later take its place back.
void Consumer::GiveUpIfFenced() {
  char text[512] = "";
  const rd_kafka_resp_err_t error = rd_kafka_fatal_error(client_->get(), text, sizeof text);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return;
  fenced_ = "kafka: " + std::string(text) + "; each member of group " + options_.group +
            " must have a group.instance.id of its own, or none: look at --kafka-properties";
  ReportRevoked();
}

void Consumer::Apply(const ConsumerOrders& orders) {
  for (const ConsumerOrders::At& at : orders.seek)
    if (reported_.contains(at.partition)) flow_.Seek(at.partition, at.offset);
  for (const int32_t partition : orders.pause) flow_.Pause(partition);
  for (const int32_t partition : orders.resume) flow_.Resume(partition);
  for (const ConsumerOrders::At& at : orders.commit) {
    const auto found = reported_.find(at.partition);
    if (found == reported_.end()) continue;
    found->second.position = at.offset;
    commits_.Order(at.partition, at.offset, found->second.times.Below(at.offset));
  }
  Tend();
}

// Retries orders that could not be carried out at once.
void Consumer::Tend() {
  const Time now = MonoNow();
  RetryParked(now);
  if (!flow_.Settle(now)) lookup_.WakeAfter(kSettleAgainAfter);
  const Duration again = commits_.SendDue(now);
  if (again > Duration::zero()) lookup_.WakeAfter(again);
  if (now < ask_ends_at_) return;
  const bool away = unreachable_ && !unreachable_->empty();
  ask_ends_at_ = now + (away ? kEndsEveryWhileAway : kEndsEvery);
  const std::vector<int32_t> owned = flow_.owned();
  // A member without partitions also asks, to learn whether brokers answer.
  lookup_.AskEnds(owned.empty() ? std::vector<int32_t>{0} : owned);
}

void Consumer::RetryParked(Time now) {
  for (const int32_t partition : parked_.Due(now)) {
    if (parked_.Find(partition)->why == Reading::kLost) {
      lookup_.AskAgain(assignment_, partition);
    } else {
      flow_.GoOn(partition);
    }
  }
}

void Consumer::TakeAnswers() {
  const PositionLookup::Answers answers = lookup_.Take();
  for (const PositionLookup::Position& found : answers.positions) {
    if (found.assignment != assignment_ || !flow_.owns(found.partition)) continue;
    const PartitionAssigned assigned = AssignedBy(found);
    parked_.Forget(found.partition);
    Reported& reported = reported_[found.partition] = {assigned.first(), found.end, {}, {}};
    if (found.read_until) {
      const UnixMs hour = assigned.tail_lost() ? kLateStamps : 0;
      reported.times.Add(assigned.first(), *found.read_until - hour, UnixNow());
    }
    out_->emplace_back(assigned);
  }
  for (const PositionLookup::End& end : answers.ends) {
    const auto found = reported_.find(end.partition);
    if (found == reported_.end()) continue;
    found->second.end = end.offset;
    out_->emplace_back(LogEndSeen{end.partition, end.offset, end.asked_at});
  }
  if (answers.untold) leaderless_.clear();
  for (const auto& [partition, why] : answers.untold.value_or(std::map<int32_t, std::string>()))
    if (flow_.owns(partition))
      leaderless_[partition] = options_.topic + "/" + std::to_string(partition) + ": " + why;
  if (!answers.failure) return;
  unreachable_ = answers.failure;
  // Asks for the ends again soon: a range's lag is measured from the last answer.
  if (!unreachable_->empty())
    ask_ends_at_ = std::min(ask_ends_at_, MonoNow() + kEndsEveryWhileAway);
}

// A lost position at or above the log's start lay beyond its end, so records written since may
// stand where other records were.
PartitionAssigned Consumer::AssignedBy(const PositionLookup::Position& found) const {
  PartitionAssigned assigned{found.partition, found.committed.value_or(found.low), found.low,
                             found.end,       found.committed.has_value(),         found.reread};
  const ParkedPartitions::Entry* lost = parked_.Find(found.partition);
  if (lost != nullptr && lost->position >= found.low) {
    assigned.start = lost->position;
    assigned.end = std::min(found.end, lost->position - 1);
  }
  return assigned;
}

void Consumer::OnAssigned(const rd_kafka_topic_partition_list_t& list) {
  std::vector<int32_t> partitions;
  for (int i = 0; i < list.cnt; ++i) partitions.push_back(list.elems[i].partition);
  flow_.Assign(partitions);
  lookup_.AskPositions(++assignment_, std::move(partitions));
  ask_ends_at_ = {};
}

void Consumer::OnRevoked() {
  // Lost: the group gave the partitions to other members, who commit from now on.
  const bool lost = rd_kafka_assignment_lost(client_->get()) != 0;
  if (!lost) commits_.CommitNow(kRevokeCommitLimit);
  flow_.Unassign();
  ReportRevoked();
}

void Consumer::ReportRevoked() {
  lookup_.AskPositions(++assignment_, {});
  commits_.ForgetAll();
  parked_.ForgetAll();
  leaderless_.clear();
  if (out_ != nullptr)
    for (const auto& [partition, end] : reported_) out_->emplace_back(PartitionRevoked{partition});
  reported_.clear();
}

void Consumer::OnError(const rd_kafka_message_t& message) {
  const Meaning meaning = MeaningOf(message.err);
  const bool of_partition = message.rkt != nullptr && message.partition >= 0;
  if (of_partition && meaning.reading != Reading::kGoesOn) return Stuck(message, meaning.reading);
  const std::string where =
      options_.topic + (of_partition ? "/" + std::to_string(message.partition) : "");
  client_->log().Log(
      LogLevel::kWarn, where + rd_kafka_err2name(message.err),
      "kafka: " + where + ": " + Describe(message.err) + ": " + rd_kafka_message_errstr(&message));
}

void Consumer::Stuck(const rd_kafka_message_t& message, Reading why) {
  const int32_t partition = message.partition;
  if (!flow_.Park(partition)) return;
  const int64_t position = flow_.next(partition).value_or(-1);
  std::string reason = options_.topic + "/" + std::to_string(partition) + " at offset " +
                       std::to_string(position) + ": " + Describe(message.err) + ": " +
                       rd_kafka_message_errstr(&message);
  if (why == Reading::kLost) {
    reason += "; taken over again from what the log holds now";
    commits_.Forget(partition);
    flow_.Forget(partition);
    if (reported_.erase(partition) > 0) out_->emplace_back(PartitionRevoked{partition});
  } else {
    reason +=
        "; the partition is parked and looked at again: restore the log from a replica, or "
        "give up what cannot be read by deleting the records below the next good offset "
        "(kafka-delete-records)";
  }
  client_->log().Log(LogLevel::kError, "stuck " + std::to_string(partition), "kafka: " + reason);
  const auto random = static_cast<uint64_t>(Clock::now().time_since_epoch().count());
  const Time now = MonoNow();
  lookup_.WakeAfter(parked_.Park(partition, why, position, std::move(reason), now, random));
}

std::vector<Consumer::Parked> Consumer::AllParked() const {
  std::vector<Parked> all;
  for (const auto& [partition, entry] : parked_.entries()) {
    const auto found = reported_.find(partition);
    // A log that ends at or before the bad offset is sound again.
    if (found != reported_.end() && found->second.end <= entry.position) continue;
    all.push_back({partition, entry.position, entry.reason});
  }
  return all;
}

std::vector<Consumer::Lag> Consumer::Lags(UnixMs now) {
  std::vector<Lag> lags;
  for (const int32_t partition : flow_.owned()) {
    const auto found = reported_.find(partition);
    if (found == reported_.end()) {
      lags.push_back({partition});
      continue;
    }
    Reported& reported = found->second;
    int64_t low = -1;
    int64_t end = -1;
    rd_kafka_get_watermark_offsets(client_->get(), options_.topic.c_str(), partition, &low, &end);
    end = std::max(end, reported.end);
    reported.marks.Existed(end, now);
    lags.push_back({partition, std::max<int64_t>(end - reported.position, 0),
                    std::chrono::milliseconds(now - reported.marks.Since(reported.position, now)),
                    reported.position});
  }
  return lags;
}

void Consumer::Wake() const {
  if (options_.wake_fd >= 0) (void)!write(options_.wake_fd, &kWakePayload, sizeof kWakePayload);
}

void Consumer::Close(Duration limit) {
  const Time until = MonoNow() + limit;
  RestUntil({});
  const auto left = [until] { return std::max(until - MonoNow(), Duration::zero()); };
  {
    // The caller may close its descriptor soon.
    const QueueHandle queue(rd_kafka_queue_get_consumer(client_->get()));
    rd_kafka_queue_io_event_enable(queue.get(), -1, nullptr, 0);
  }
  for (const int32_t partition : flow_.owned()) flow_.Pause(partition);
  (void)flow_.Settle(MonoNow());
  // Once closing has begun, a rebalance in the queue would never be answered.
  while (const MessageHandle message{rd_kafka_consumer_poll(client_->get(), 0)})
    if (left() == Duration::zero()) break;

  const QueueHandle closing(rd_kafka_queue_new(client_->get()));
  const ErrorHandle error(rd_kafka_consumer_close_queue(client_->get(), closing.get()));
  // Answers the last rebalance, and drops records that still arrive: a poll for callbacks alone
  // aborts the process when it finds a record.
  while (!error && !rd_kafka_consumer_closed(client_->get()) && left() > Duration::zero())
    MessageHandle(rd_kafka_consume_queue(closing.get(), 20));

  const bool stopped = lookup_.Stop(left() + std::chrono::milliseconds(100));
  if (!stopped || !rd_kafka_consumer_closed(client_->get())) {
    client_->log().Log(LogLevel::kWarn, "kafka: did not leave the group in time");
  }
  client_->SetDestroyLimit(left() + std::chrono::milliseconds(100));
  if (stopped)
    client_.reset();
  else
    LeaveBehind(std::move(client_));
}

Consumer::~Consumer() {
  if (client_) Close(std::chrono::seconds(10));
}

}  // namespace fanline::kafka
