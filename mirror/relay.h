// Publishes each pending log1 row: a changed edge as its msg1, a changed friendship as two forward
// writes with the pair's version, each of which leaves its own row of log1.
//
// The owner of partition (shard mod partitions) of relation-log relays the shard. Overlapping
// owners and restarts only cause duplicates, which are harmless. The applier of a msg1, perhaps
// another mirror's, marks the edge's row done. Here a row is under way until a pass over all
// pending rows no longer finds it. A row that stays pending is relayed again, ever more rarely: its
// msg1 may be lost, or wait for a shard. A row that nobody could apply (by hand somebody wrote src
// as dst, version 0) is not relayed: it goes to the dead letters of relation-log, and is then
// marked done here. The letter's place in a log is the row's: its shard and id. Each shard of
// followers has its share of the rows under way, so one that is away for long leaves the others
// theirs.
//
// Transactions do not commit in the order of their ids. The relay asks often for rows above the
// newest id seen, and now and then a pass from the first pending row on finds late ones. A shard
// that was away may have failed over and lost its tail; it then gives other rows ids that are not
// above the newest seen. A pass may be long, so the relay asks for the newest rows between its
// pages as often as ever. It also purges old rows that are done.
// Passive: no thread, no clock, no sleep. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "fanline/consuming/consumer.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/change_log.h"
#include "fanline/ports/forward_edges.h"
#include "fanline/ports/hint_log.h"
#include "fanline/ports/port.h"
#include "mirror/limits.h"
#include "mirror/metrics.h"

namespace fanline::mirror {

using RelayReply = std::variant<PendingRead, RelationsAppended, EdgeChanged, MarkedDone, PurgedDone,
                                DeadLetterAppended>;

class Relay {
 public:
  struct Ports {
    Port<ReadPending, MarkDone, PurgeDone> log;
    Port<AppendRelations> relations;
    Port<ChangeEdge> forward;
    Port<AppendDeadLetter> dead_letters;
    Metrics& metrics;
  };
  struct Setup {
    ShardMap shards = ShardMap::Even(1);
    uint32_t partitions = 8;  // of relation-log
    uint64_t seed = 1;        // of the jitter
  };

  Relay(Ports ports, Setup setup, const Limits& limits);

  void On(const PartitionAssigned& assigned, Now now);
  void On(const PartitionRevoked& revoked);
  void On(const RelayReply& reply, Now now) {
    std::visit([&](const auto& each) { On(each, now); }, reply);
  }

  // After the inputs of a step: sends what is due. Returns when to step again at the latest.
  [[nodiscard]] std::optional<Time> Send(Now now);

  // From now on nothing more is read; what was read is relayed.
  void StopTaking() { taking_ = false; }
  bool drained() const { return reads_.empty() && sent_.empty() && halves_.empty(); }

 private:
  // A pending row that this mirror took.
  struct Row {
    LogRow name;
    Time retry_at{};  // from then on it is relayed again if still pending
    Time taken_at{};
    Shard destination = 0;  // where its reverse row is
    uint64_t pass = 0;      // the last pass that found it
    uint32_t relays = 0;
    // Of a friendship: the requests of the forward writes that are not answered yet; 0: answered.
    // Replies to an earlier relay of the row, or of an earlier assignment, do not count.
    std::array<uint64_t, 2> halves{};
    std::optional<Status> failed;  // of a friendship: a write that failed
    bool told = false;             // its dead letter is acknowledged; it only needs its mark
  };
  struct ShardState {
    bool owned = false;
    bool reading = false;
    bool passing = false;
    uint64_t pass = 0;
    uint64_t after = 0;   // where the pass goes on
    uint64_t newest = 0;  // the highest id seen, since the shard was last away
    uint64_t rows = 0;    // found by the pass so far
    UnixMs oldest = 0;    // when the first of them was written
    Time pass_at{}, poll_at{}, purge_at{}, pass_began{};
    Time polled_at{};    // for rows above the newest
    bool paged = false;  // a page of the pass was read since
    bool purging = false;
    uint32_t attempts = 0;
    std::unordered_map<uint64_t, Row> under_way;  // by id
    std::vector<size_t> share;                    // rows under way by destination; empty at first
  };
  struct Read {
    Shard shard = 0;
    bool pass = false;
  };
  struct Sent {  // rows waiting for one reply
    Shard shard = 0;
    std::vector<LogRow> rows;
  };

  void On(const PendingRead& read, Now now);
  void On(const RelationsAppended& appended, Now now);
  void On(const EdgeChanged& changed, Now now);
  void On(const MarkedDone& marked, Now now);
  void On(const PurgedDone& purged, Now now);
  void On(const DeadLetterAppended& appended, Now now);
  // Relays the changes that are new or due again, as far as there is room.
  void Take(Shard shard, const std::vector<LoggedChange>& changes, Now now);
  // Room for one more row to that shard.
  bool HasRoom(const ShardState& state, Shard destination) const;
  void RelayFriendship(Shard shard, const LoggedChange& change);
  void SetAside(Shard shard, const LoggedChange& change, const std::string& why);
  void SendMark(Shard shard, const LogRow& row);
  void SendRead(Shard shard, Now now);
  void EndPass(Shard shard, Now now);
  // The entry of a row; null when the row is no longer under way.
  Row* Find(Shard shard, const LogRow& row);
  void Forget(ShardState& state, uint64_t id);
  void ScheduleRetry(Shard shard, const std::vector<LogRow>& rows, const Status& status, Now now);
  std::vector<Shard> ShardsOf(int32_t partition) const;

  Ports ports_;
  const Setup setup_;
  const Limits limits_;
  uint64_t ids_ = 0;  // of requests
  std::mt19937_64 random_;
  bool taking_ = true;

  std::vector<ShardState> shards_;             // by shard
  std::unordered_map<uint64_t, Read> reads_;   // request -> what it is for
  std::unordered_map<uint64_t, Sent> sent_;    // msg1s, marks and letters
  std::unordered_map<uint64_t, Sent> halves_;  // forward writes of friendships
  std::unordered_map<uint64_t, Shard> purges_;
};

}  // namespace fanline::mirror
