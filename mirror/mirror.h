// Makes reverse rows agree with forward rows: applies log1 of the forward shards it owns straight
// to the reverse rows. A row of log1 is read into the window (reads.h, window.h), goes through the
// steps (steps.h), and is marked done last. The next owner reads a row again that is not marked, so
// memory may be lost.
//
// Who owns a shard's partition of the relation events (PartitionOf) owns the forward shard.
// Overlapping owners and restarts only cause repetitions, which are harmless. An owner that hung
// for long does no harm either: it reads a row again before it writes it, if it read it more than a
// minute ago.
//
// In the mirror mode `log` it also listens to the bells of its shards (fanline/ports/log_bell.h),
// and reads the rows that they tell of by their keys, at once (heard.h). Bells only save time: all
// other reads go on.
//
// It also purges old rows that are done.
// Passive: no thread, no clock, no sleep. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <unordered_map>
#include <variant>
#include <vector>

#include "fanline/consuming/consumer.h"
#include "fanline/consuming/shard_queue.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/change_log.h"
#include "fanline/ports/log_bell.h"
#include "fanline/ports/operator_modes.h"
#include "mirror/heard.h"
#include "mirror/limits.h"
#include "mirror/metrics.h"
#include "mirror/reads.h"
#include "mirror/steps.h"
#include "mirror/window.h"

namespace fanline::mirror {

using MirrorInput =
    std::variant<PartitionAssigned, PartitionRevoked, PendingRead, PendingAsked, MarkedDone,
                 PurgedDone, RelationsAppended, EdgesApplied, HintsAppended, EdgeChanged,
                 DeadLetterAppended, MirrorModeRead, LogHeard>;

// The partition whose owner works a forward shard. As many mirrors as there are shards have one
// each: it is the first one that the consumer groups' assignor (range) deals to the shard's own
// member then. Of three shards and eight partitions: 0, 3 and 6.
[[nodiscard]] uint64_t PartitionOf(uint64_t shard, uint64_t shards, uint64_t partitions);

class Mirror {
 public:
  struct Ports {
    Port<ReadPending, AskPending, MarkDone, PurgeDone> log;
    Port<ReadMirrorMode> modes;
    Port<HearLog> bells;
    Steps::Ports steps;
  };
  struct Setup {
    Steps::Setup steps;
    uint32_t partitions = 8;  // of the relation events
    Duration gather{};        // how long new rows wait for others
  };

  Mirror(const Ports& ports, const Setup& setup, const Limits& limits);

  [[nodiscard]] Progress Step(std::span<const MirrorInput> inputs, Now now);

  // From now on nothing more is started (SIGTERM); keep stepping until drained().
  void StopTaking();
  bool drained() const;

 private:
  // A read of pending rows that is under way.
  struct UnderWay {
    uint64_t id = 0;  // 0: none is
    Time sent_at{};
    uint64_t doubts = 0;  // Steps::doubts at sent_at
    // Rows marked since. Its answer may still hold them.
    std::set<LogRow> marked;
  };
  // What is known of a forward shard.
  struct Source {
    explicit Source(const Limits& limits)
        // One statement at a time; the next one takes what came meanwhile.
        : marks({limits.rows_per_mark, 1, limits.backoff}),
          questions({limits.rows_per_question, 1, limits.backoff}) {}

    std::optional<Reads> reads;  // none: the shard is not ours
    UnderWay read;
    std::optional<Heard> heard;  // as reads
    UnderWay heard_read;
    bool belled = false;   // the shard is ours, its bell has answered, and nothing failed since
    bool hearing = false;  // a request to the bell is under way
    bool another = true;   // the bell is to be hung up anew: the server may be another
    uint32_t bell_attempts = 0;
    std::optional<Time> bell_at;  // then the bell is asked again
    ShardQueue marks, questions;  // jobs
    std::optional<Time> purge_at;
    bool purging = false;
  };
  struct Question {
    Shard shard = 0;
    Time sent_at{};
    uint64_t doubts = 0;  // Steps::doubts at sent_at
    ShardQueue::Batch batch;
    std::vector<Steps::Ref> rows;
  };
  struct Marking {
    Shard shard = 0;
    ShardQueue::Batch batch;
    std::vector<Steps::Ref> rows;
  };

  void On(const PartitionAssigned& assigned, Now now);
  void On(const PartitionRevoked& revoked, Now now);
  void On(const PendingRead& read, Now now);
  void On(const PendingAsked& asked, Now now);
  void On(const MarkedDone& marked, Now now);
  void On(const PurgedDone& purged, Now now);
  void On(const MirrorModeRead& read, Now now);
  void On(const LogHeard& heard, Now now);
  void OnHeardRows(const PendingAsked& asked, Now now);
  template <typename Reply>
  void On(const Reply& reply, Now now) {
    steps_.On(reply, now);
  }

  void Leave(Shard shard);
  void SendRead(Shard shard, Now now);
  void SendModeRead(Now now);
  UnderWay Begun(Shard shard, Now now);
  void SendBell(Shard shard, Now now);
  void SendHeard(Shard shard, Now now);
  void SetBelled(Shard shard, bool belled, Now now);
  void CompareWithBell(Shard shard, uint64_t newest, const std::vector<Steps::Ref>& read, Now now);
  void LeaveToPolls(Shard shard, Now now);
  void SendQuestion(Shard shard, Now now);
  void SendMarks(Shard shard, Now now);
  void SendPurge(Shard shard, Now now);
  bool HasRoomForBacklog(Shard shard, Shard reverse, size_t rows) const;
  // Takes a row into the window, unless it is there. `fresh`: it does not come from the backlog.
  Reads::Fate Take(Shard shard, Shard reverse, const LoggedChange& change, bool fresh,
                   const UnderWay& read, std::vector<Steps::Ref>* taken);
  // A call failed and is tried again. Unless it met a locked row, the server may be another by now.
  void Failed(Shard shard, const Status& status, Now now);
  void Show(Now now);
  std::vector<Shard> ShardsOf(int32_t partition) const;

  Ports ports_;
  const Setup setup_;
  const Limits limits_;
  uint64_t ids_ = 0;  // of requests
  std::mt19937_64 random_;
  bool taking_ = true;

  Window window_;
  Steps steps_;
  std::vector<Source> sources_;                                               // by forward shard
  std::unordered_map<uint64_t, Shard> reads_, heard_reads_, bells_, purges_;  // by request
  std::unordered_map<uint64_t, Question> questions_;                          // by request
  std::unordered_map<uint64_t, Marking> markings_;                            // by request
  Time show_at_{};
  bool bell_ = false;                     // the mode is log
  std::optional<Time> mode_at_ = Time{};  // none: it is being read
};

}  // namespace fanline::mirror
