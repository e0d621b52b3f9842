// A member of a consumer group over one topic: hands over records in order, says which partitions
// come and go, and does what the logic orders (fanline/consuming/consumer.h).
//
// An assigned partition starts paused, at the group's committed offset, or at the log's first
// offset if there is none. Nothing is delivered from it before a seek. No position is guessed: a
// partition is reported only once its position is looked up. When the log does not hold the
// position (it was trimmed, cut or recreated), the partition is revoked and assigned again, with
// what the log holds then. A commit carries the time of the last record below it: when a log's tail
// is lost, an hour is read again instead of the whole log. When the log is corrupt, the partition
// is parked: it stays ours, delivers nothing, and reading is retried with back-off. The other
// partitions go on.
//
// Assignment is eager (`range`): the whole group stops for a rebalance, and at any moment at most
// one member believes that it owns a partition. The cooperative assignor of librdkafka 2.0 leaves
// moved partitions unread just as long and fails commits meanwhile (decision 26).
//
// Redelivery: after a crash or a rebalance records from the last commit on are delivered again.
//
// Threads: all calls come from one thread. It must Poll at least every max_poll_interval, or the
// group gives its partitions to others. The constructor starts a thread for lookups.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backends/kafka/client.h"
#include "backends/kafka/commit_orders.h"
#include "backends/kafka/parked_partitions.h"
#include "backends/kafka/partition_flow.h"
#include "backends/kafka/position_lookup.h"
#include "backends/kafka/record_times.h"
#include "fanline/base/log_sink.h"
#include "fanline/base/time.h"
#include "fanline/consuming/consumer.h"
#include "fanline/model/record.h"

namespace fanline::kafka {

struct ConsumerOptions {
  ClientOptions client;
  std::string group;
  std::string topic;
  // How long a member may be silent before its partitions go to others. The broker's bounds
  // (group.min.session.timeout.ms, default 6 s) apply. A coordinator that was away for longer
  // itself waits this long once more for its former members.
  std::chrono::milliseconds session_timeout{10'000};
  // How long the thread may go without a Poll before the member leaves its group.
  std::chrono::milliseconds max_poll_interval{60'000};
  // How long a broker may hold a fetch that finds nothing new. A partition that seeks or resumes
  // waits for the fetch under way, so this is its worst delay.
  std::chrono::milliseconds fetch_wait{100};
  // How much is fetched ahead, all partitions together.
  size_t queued_kbytes = 16 * 1024;
  // Becomes readable (eight bytes, a uint64 of 1) when there is something to Poll: an eventfd.
  int wake_fd = -1;
};

using ConsumerEvent = std::variant<Record, PartitionAssigned, PartitionRevoked, LogEndSeen>;

class Consumer {
 public:
  // Joins the group in the background. Throws Misconfigured for properties that librdkafka refuses,
  // std::runtime_error when it cannot subscribe. Brokers need not be there yet.
  Consumer(ConsumerOptions options, LogSink log);
  // Close, if that was not done.
  ~Consumer();
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  // Appends events in order, with at most `max_records` records. wake_fd is readable again when
  // there may be more. Waits only at a revocation: at most 2 s for the last commit of the
  // partitions. After PartitionRevoked or an order to seek, no record fetched before it is
  // delivered.
  void Poll(size_t max_records, std::vector<ConsumerEvent>& out);

  // Why the group has expelled us: another member came with our group.instance.id. All partitions
  // are revoked, and nothing more is delivered. None: we have not been expelled.
  [[nodiscard]] const std::optional<std::string>& Fenced() const { return fenced_; }

  // Holds fetches back until that moment (fetch_rest.h). Records that reach the log meanwhile are
  // delivered together.
  void RestUntil(Time moment) { client_->context().rest.Until(moment); }

  // In this order: seeks, pauses, resumes, commits. Orders for partitions that are not ours are
  // ignored. Commits are sent without waiting, and again when they fail.
  void Apply(const ConsumerOrders& orders);

  // `records`: how many lie between the group's position (the last commit ordered, or found at the
  // assignment) and the log's end, delivered or not; -1: not known yet. The end is as of the last
  // fetch; every few seconds it is asked for as well.
  struct Lag {
    int32_t partition = 0;
    int64_t records = -1;
    // How long the oldest of these has been in the log (LagMarks: a lower bound).
    std::chrono::milliseconds age{0};
    int64_t position = 0;  // the group's; meaningless while `records` is not known
  };
  [[nodiscard]] std::vector<Lag> Lags(UnixMs now);

  // Partitions that are ours and cannot be read any further.
  struct Parked {
    int32_t partition = 0;
    int64_t position = 0;  // the first record that was not delivered
    std::string reason;    // one line: what is wrong and what to do about it
  };
  [[nodiscard]] std::vector<Parked> AllParked() const;

  // Our partitions whose logs have no leader, or none that answers, and why, from the newest
  // answer.
  [[nodiscard]] const std::map<int32_t, std::string>& Leaderless() const { return leaderless_; }

  // Why no broker answers, from the newest call; calls are made at least every few seconds. Empty:
  // brokers answer. None: no call has ended yet.
  [[nodiscard]] std::optional<std::string> Unreachable() const { return unreachable_; }

  // Commits what was ordered, gives up the partitions and leaves the group, within `limit`. What is
  // not done by then is left undone. Nothing may be called afterwards.
  void Close(Duration limit);

 private:
  static ClientConfig Configure(const ConsumerOptions& options);
  static Consumer& Of(void* opaque) { return *static_cast<Consumer*>(ContextOf(opaque).owner); }

  void OnAssigned(const rd_kafka_topic_partition_list_t& list);
  void OnRevoked();
  void OnError(const rd_kafka_message_t& message);
  void Stuck(const rd_kafka_message_t& message, Reading why);
  void GiveUpIfFenced();
  void ReportRevoked();
  void RetryParked(Time now);
  void TakeAnswers();
  PartitionAssigned AssignedBy(const PositionLookup::Position& found) const;
  void Tend();
  void Wake() const;

  const ConsumerOptions options_;
  // Held apart, so that it can be left behind; null once closed.
  std::unique_ptr<Client> client_;
  PartitionFlow flow_;
  CommitOrders commits_;
  PositionLookup lookup_;

  struct Reported {
    int64_t position = 0;  // the group's, by the newest order
    int64_t end = 0;       // of the log when last asked
    LagMarks marks;
    ReadTimes times;
  };
  uint64_t assignment_ = 0;
  std::map<int32_t, Reported> reported_;  // the partitions reported as assigned
  ParkedPartitions parked_;
  std::map<int32_t, std::string> leaderless_;  // partitions, and why
  std::optional<std::string> unreachable_;
  std::optional<std::string> fenced_;
  Time ask_ends_at_{};
  std::vector<ConsumerEvent>* out_ = nullptr;  // during a Poll
};

}  // namespace fanline::kafka
