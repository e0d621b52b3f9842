// Works off relation-log.retry: edges whose pairs could not be answered in time. Each is checked
// when it is due, after longer and longer waits, until a check resolves it.
//
//   record -> held until it is due -> check
//     resolved:     finished
//     not resolved: appended again, due later; finished once that is acknowledged
//
// An edge has one entry: if two are held, the one with the higher version stands for both, and the
// other is finished. So an edge that comes again and again while its shard is away makes no more
// work than another.
//
// An offset is committed only when everything below it is finished. So after a crash entries are
// read again, at the cost of checks. Entries of a shard that is away wait ever longer, and must not
// keep the entries behind them from being read. So when too many are held, the half that is due
// last is appended again unchanged, and the partitions are paused meanwhile. This happens at most
// once per `make_room_every`. Undecodable records go to the dead letters, and so do entries that
// were checked often and can never be resolved.
//
// Passive: no thread, no clock, no sleep. Not thread-safe.
#pragma once

#include <cstdint>
#include <random>
#include <set>
#include <span>
#include <unordered_map>
#include <variant>

#include "fanline/consuming/partitions.h"
#include "fanline/consuming/retry_queue.h"
#include "fanline/ports/hint_log.h"
#include "reconciler/checker.h"

namespace fanline::reconciler {

struct RetryLimits {
  uint32_t held = 50'000;  // all partitions together
  Duration make_room_every = std::chrono::seconds(5);
  Duration commit_every = std::chrono::seconds(1);
  // An edge that no repair can set right is checked this often in a row, for more than an hour,
  // before its entry goes to the dead letters. Waits for a shard do not count.
  uint32_t hopeless_attempts = 20;
  // How long until the next check of an entry; the upper half is random.
  Backoff patience{.first = std::chrono::seconds(5), .most = std::chrono::minutes(10)};
  Backoff append_again{};  // while Kafka is away
};

using RetryInput = std::variant<PartitionAssigned, PartitionRevoked, Record, CheckerReply,
                                RetriesAppended, DeadLetterAppended>;

class RetryReconciler {
 public:
  struct Ports {
    Checker::Ports checker;
    Port<AppendRetries> retries;
    Port<AppendDeadLetter> dead_letters;
    Metrics& metrics;
  };

  // `gate` outlives this.
  RetryReconciler(const Ports& ports, const Checker::Setup& setup, const RetryLimits& limits,
                  RepairGate& gate);

  [[nodiscard]] Progress Step(std::span<RetryInput> inputs, Now now);

  // From now on nothing more is checked; keep stepping until drained().
  void StopTaking();
  bool drained() const { return checker_.idle() && appending_ == 0; }
  size_t held() const { return entries_.size(); }

 private:
  struct Entry {
    Partitions::Place place;
    RelationRetry retry;
    Record record;
    std::string reason;    // set: it is on its way to the dead letters
    uint32_t appends = 0;  // failed ones
  };

  void On(const PartitionAssigned& assigned, Now) { partitions_.Assigned(assigned); }
  void On(const PartitionRevoked& revoked, Now) { partitions_.Revoked(revoked); }
  void On(Record& record, Now now);
  void On(const CheckerReply& reply, Now now) { checker_.On(reply, now); }
  void On(const RetriesAppended& reply, Now now) { Appended(reply.id, reply.status, now); }
  void On(const DeadLetterAppended& reply, Now now) { Appended(reply.id, reply.status, now); }

  void ForgetTaken();
  void Hold(uint64_t entry);
  void LetGo(uint64_t entry);
  void CheckDue(Now now);
  void MakeRoom(Now now);
  void OnResult(const CheckResult& result, Now now);
  void Append(uint64_t entry);
  void Appended(uint64_t entry, const Status& status, Now now);
  void Finish(uint64_t entry);

  Ports ports_;
  const RetryLimits limits_;
  Checker checker_;
  std::mt19937_64 random_;
  bool taking_ = true;
  uint64_t ids_ = 0;  // of entries; an entry's requests carry it
  Partitions partitions_;
  std::unordered_map<uint64_t, Entry> entries_;
  std::unordered_map<EdgeKey, uint64_t> of_edge_;  // the entry that is held or being checked
  std::set<std::pair<UnixMs, uint64_t>> due_;      // entries that are held
  size_t appending_ = 0;                           // appends under way
  RetryQueue<uint64_t> append_again_;              // entries
  Time make_room_at_{};
};

}  // namespace fanline::reconciler
