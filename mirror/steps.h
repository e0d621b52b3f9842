// Takes the changes of log1 that are in the window to their marks:
//
//   msg1 acknowledged -> reverse row committed -> hint sync(src, dst) acknowledged
//     -> msg2 acknowledged -> the row of log1 may be marked
//
// A crash between two steps loses nothing: the row is still pending, and all steps are repeated. A
// stale change takes all steps too, since it may be such a repetition. A msg2 in the log proves
// that the hint is in its log, a hint in the log finds the reverse row written, and no reverse row
// is ahead of the msg1s in the log. Versions make repetitions and other orders harmless
// (fanline/wire/edge_fold.h).
//
// A row that was read long ago, or before its shard failed to answer, is read again before it is
// written and before its msg2. It may be done by now, and a newer unfollow's tombstone may have
// been collected. Or the shard has failed over and lost the row: then there is no msg2, and the
// reconciler looks into it.
//
// Changes of one edge are written at once, at the highest version, after the msg1 of each. A
// changed friendship becomes two forward writes with the pair's version instead. Each of them
// leaves its own row of log1. The friendship is marked when both are written.
//
// Of changed mutes the reader's timeline is told, by a hint sync(reader, reader). Nothing is
// written and no message is sent. A row that was read long ago does no harm.
//
// Edges of one reverse shard are written many per transaction and go on together. A shard that is
// away or slow, and a row that is locked, hold up their own jobs only (shard_queue.h). A change
// that can never be written goes to the dead letters of relation-log, and may be marked once its
// letter is acknowledged. Such a letter names the row's shard as its partition, and the row's id as
// its offset.
//
// Jobs may leave the window at any time. Requests that are under way for them do no harm.
// Passive: no thread, no clock, no sleep. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fanline/base/mutation_switches.h"
#include "fanline/consuming/retry_queue.h"
#include "fanline/consuming/shard_queue.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/forward_edges.h"
#include "fanline/ports/hint_log.h"
#include "fanline/ports/port.h"
#include "fanline/ports/reverse_edges.h"
#include "mirror/limits.h"
#include "mirror/metrics.h"
#include "mirror/window.h"

namespace fanline::mirror {

class Steps {
 public:
  struct Ports {
    Port<AppendRelations> relations;
    Port<ApplyEdges> reverse;
    Port<AppendHints> hints;
    Port<ChangeEdge> forward;
    Port<AppendDeadLetter> dead_letters;
    Metrics& metrics;
  };
  struct Setup {
    RangeLayout layout{16};
    ShardMap shards = ShardMap::Even(1);
    uint64_t seed = 1;  // of the jitter
    MutationSwitches switches = {};
  };
  // A row of a job. The row is left empty where only the job counts.
  struct Ref {
    uint64_t job = 0;
    LogRow row = {};
  };

  // `window` and `limits` outlive this.
  Steps(Ports ports, const Setup& setup, const Limits& limits, Window& window);

  // Begins the steps of rows that were just added to the window.
  void Begin(const std::vector<Ref>& rows);
  // Goes on with a job whose old rows were found pending.
  void Again(uint64_t job, Now now);
  // Forgets jobs that have left the window.
  void Forget();

  void On(const RelationsAppended& appended, Now now) {
    Appended(appended.id, appended.status, now);
  }
  void On(const HintsAppended& appended, Now now);
  void On(const EdgesApplied& applied, Now now);
  void On(const EdgeChanged& changed, Now now);
  void On(const DeadLetterAppended& appended, Now now);

  // After the inputs of a step: sends what is due.
  void Send(Now now);
  [[nodiscard]] std::optional<Time> timer() const;

  // Jobs with rows that may be marked, and jobs to be written whose rows were read too long ago.
  // Each job is returned once.
  [[nodiscard]] std::vector<uint64_t> TakeMarkable() { return std::exchange(markable_, {}); }
  [[nodiscard]] std::vector<uint64_t> TakeOld() { return std::exchange(old_, {}); }

  // A forward shard did not answer. It may have failed over and lost rows that were read before.
  void Doubt(Shard forward) { ++doubts_[forward]; }
  [[nodiscard]] uint64_t doubts(Shard forward) const { return doubts_[forward]; }
  // Whether a row must be read again before the next step of its job.
  [[nodiscard]] bool IsOld(const WindowRow& row, Shard forward, Time now) const;

  // From now on no step of a job is begun but what is under way (SIGTERM).
  void StopTaking() { taking_ = false; }
  bool drained() const {
    return transactions_.empty() && appends_.empty() && friendships_.empty() && letters_.empty();
  }

 private:
  enum class What { kMsg1, kHints, kMsg2 };
  // One request to a log: the msg1s of rows, or the hints or msg2s of a transaction's edges.
  struct Append {
    What what = What::kMsg1;
    std::vector<Ref> refs;
    uint32_t attempts = 0;
  };
  struct Transaction {
    Shard reverse = 0;
    ShardQueue::Batch batch;
  };
  struct Friendship {
    Shard forward = 0, reverse = 0;
    ShardQueue::Batch batch;  // one job
    int unanswered = 2;       // forward writes
    std::optional<Status> failed;
  };
  struct Letter {
    Ref ref;
    DeadLetter letter;
    uint32_t attempts = 0;
  };

  void Queue(uint64_t id);
  void Push(uint64_t id, Job& job);
  ShardQueue& QueueOf(Shard forward, Shard reverse);
  // Starts the job's run, with all rows that are announced, and returns its newest change. None:
  // the job has left the window, has nothing to write, or has rows that are too old.
  std::optional<Edge> Run(uint64_t id, Time now);
  void SendTransactions(Shard reverse, Now now);
  void SendFriendships(ShardQueue& queue, Now now);
  bool HasOld(const Job& job, Time now) const;
  void SendAppend(Append append);
  // Sends the hints to slow ranges, each range's in a request of its own, and leaves the others.
  void SendSlow(Append& hints);
  // The range of the reader whose timeline a hint is about. The job is in the window.
  [[nodiscard]] Range RangeOf(const Ref& ref) const;
  void Submit(Append append);
  void Retry(Append append, const Status& status, Now now);
  void SendMsg2s(std::vector<Ref> refs, Now now);
  void Appended(uint64_t id, const Status& status, Now now);
  void AppendNever(const Append& append, const std::string& reason);
  void End(uint64_t id);
  void SetAside(uint64_t id, const std::string& reason);
  void SetAside(uint64_t id, WindowRow& row, const std::string& reason);
  void SendLetter(Letter letter);
  void Mark(uint64_t id);

  Ports ports_;
  const Setup setup_;
  const Limits& limits_;
  Window& window_;
  uint64_t ids_ = 0;  // of requests
  std::mt19937_64 random_;
  bool taking_ = true;

  std::vector<ShardQueue> reverse_;  // edges, by reverse shard; keys are authors
  // Friendships, by forward and reverse shard; keys are their first users.
  std::map<std::pair<Shard, Shard>, ShardQueue> friends_;
  std::unordered_map<uint64_t, Transaction> transactions_;  // by request
  std::unordered_map<uint64_t, Append> appends_;            // by request
  std::unordered_map<uint64_t, uint64_t> halves_;           // request -> friendship
  std::unordered_map<uint64_t, Friendship> friendships_;
  std::unordered_map<uint64_t, Letter> letters_;  // by request
  RetryQueue<Append> append_retries_;
  RetryQueue<Letter> letter_retries_;
  // Ranges that acknowledged no hint of a request while others did. Hints to them travel apart
  // until one is acknowledged: a reply waits for the slowest of its hints.
  std::set<Range> slow_;
  std::vector<uint64_t> markable_, old_;
  std::vector<uint64_t> doubts_;  // by forward shard
};

}  // namespace fanline::mirror
