// A member of a consumer group over one topic: hands over records in order, says which partitions
// come and go, and does what the logic orders (fanline/consuming/consumer.h).
//
// A partition comes paused, at the offset the group committed; on the group's very first start at
// the log's first offset. Nothing of it is delivered before a seek. No position is guessed: the
// partition is not reported until its position is looked up. When the log does not hold the
// position (it was trimmed, cut or made anew), the partition is revoked and assigned again, with
// what the log holds by then. A commit carries the time of the last record below it, so that after
// a lost tail an hour is read again and not the whole log. Where the log is corrupt, the partition
// is parked: it stays ours, nothing of it is delivered, and reading is retried with back-off. The
// others go on.
//
// Assignment is eager (`range`): the whole group stops for a rebalance, and in return at most one
// member believes at any moment that a partition is its own. The cooperative assignor of librdkafka
// 2.0 leaves moved partitions unread for as long and fails commits meanwhile (decision 26).
//
// Redelivery: after a crash or a rebalance records from the last commit on are delivered again.
//
// Threads: everything is called from one thread, which must Poll at least every max_poll_interval
// or the group gives its partitions to others. The constructor starts a thread for lookups.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backends/kafka/client_options.h"
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
  // (group.min.session.timeout.ms, default 6 s) apply. A coordinator that was itself away for
  // longer waits as long once more for the members it remembers.
  std::chrono::milliseconds session_timeout{10'000};
  // How long the thread may go without a Poll before the member leaves its group.
  std::chrono::milliseconds max_poll_interval{60'000};
  // How long a broker may hold a fetch that finds nothing new. A partition that is sought or
  // resumed waits for the fetch under way: this is its worst delay.
  std::chrono::milliseconds fetch_wait{100};
  // How much is fetched ahead, all partitions together.
  size_t queued_kbytes = 16 * 1024;
  // Becomes readable (eight bytes, a uint64 of 1) when there is something to Poll: an eventfd.
  int wake_fd = -1;
};

using ConsumerEvent = std::variant<Record, PartitionAssigned, PartitionRevoked, LogEndSeen>;

class Consumer {
 public:
  // Joins the group in the background. Throws Misconfigured for properties librdkafka does not
  // take, std::runtime_error when it cannot subscribe; brokers need not be there yet.
  Consumer(ConsumerOptions options, LogSink log);
  // Close, if that was not done.
  ~Consumer();
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  // Appends events in order, with at most `max_records` records; when there may be more, wake_fd is
  // readable again. Does not wait, except at a revocation: at most 2 s for the last commit of the
  // partitions. After PartitionRevoked or an order to seek, no record fetched before is delivered.
  void Poll(size_t max_records, std::vector<ConsumerEvent>& out);

  // Why the group takes us for no member any more: another came with our group.instance.id. All
  // partitions are revoked, and nothing more is delivered. None: nothing of the kind happened.
  [[nodiscard]] const std::optional<std::string>& Fenced() const;

  // Fetches rest until that moment, where an earlier one is due (fetch_rest.h). Records that arrive
  // in the log meanwhile are delivered together.
  void RestUntil(Time moment);

  // In this order: seeks, pauses, resumes, commits. Orders for partitions that are not ours are
  // ignored. Commits are sent without waiting, and again when they fail.
  void Apply(const ConsumerOrders& orders);

  // `records`: between the group's position (the last commit ordered, or found at the assignment)
  // and the log's end, delivered or not; -1: not known yet. Ends are as of the last fetch, and
  // asked for every few seconds for partitions that do not flow.
  struct Lag {
    int32_t partition = 0;
    int64_t records = -1;
    // How long the oldest of these has been in the log (lag_marks.h: a lower bound).
    std::chrono::milliseconds age{0};
    int64_t position = 0;  // the group's; of no meaning while `records` is not known
  };
  [[nodiscard]] std::vector<Lag> Lags(UnixMs now);

  // Partitions that are ours and cannot be read on.
  struct Parked {
    int32_t partition = 0;
    int64_t position = 0;  // the first record that was not delivered
    std::string reason;    // one line: what is wrong there and what can be done
  };
  [[nodiscard]] std::vector<Parked> AllParked() const;

  // Why no broker answers, by the last of the calls that are made at least every few seconds.
  // Empty: brokers answer. None: no call has ended yet.
  [[nodiscard]] std::optional<std::string> Unreachable() const;

  // Commits what was ordered, gives up the partitions and leaves the group, all within `limit`;
  // what is not done by then is left behind. Nothing may be called afterwards.
  void Close(Duration limit);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fanline::kafka
