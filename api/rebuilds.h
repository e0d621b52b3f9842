// Makes timelines live behind the answers that found them missing: a bounded queue of readers, of
// whom a bounded number are rebuilt at once. A shard may hang, so its readers, and those who wait
// for its posts, take half of that at most. A page waits for its rebuild only under load: when
// others wait for theirs, or when more pages must be pulled than can be at once. The rebuild then
// reads the truth for both, since extra pulls would make all wait longer.
//
// A reader is queued or rebuilt at most once at a time here; Redis keeps other processes from
// rebuilding the same reader (Rebuild in timeline/rebuild.h).
//
// Any client may ask for the timeline of an unknown user (a stranger). Such a reader gets one, too,
// so that asking again costs the shards nothing. It lives for kEmptyTimelineTtl, and at most
// Limits::strangers are made in that time.
//
// Thread-safe.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "api/metrics.h"
#include "api/operations/exchange.h"
#include "fanline/base/time.h"
#include "fanline/model/ids.h"
#include "timeline/rebuild.h"

namespace fanline::api {

class Rebuilds {
 public:
  struct Limits {
    size_t at_once = 4;  // of one shard of several: half of them
    // A reader beyond it is not made live now; the next visit asks again. Half of them may wait for
    // a shard that is slow.
    size_t waiting = 16'384;
    size_t strangers = 10'000;
    size_t pages = SIZE_MAX;  // that wait; each holds a connection. One more is pulled
    // How long a page waits for its rebuild before it is pulled. If the queue moves, pulls would
    // double the work. So a page whose rebuild has begun keeps waiting, and one whose queue will be
    // empty within kTurns such times waits that often at most.
    Duration longest_wait = std::chrono::seconds(10);
    // The newest is next while the oldest has waited for longer: under overload some clients are
    // served before they give up, instead of all too late.
    Duration newest_first_after = Duration::max();
  };
  using Admit = timeline::Rebuild::Admit;
  // Begins to rebuild the reader's timeline, and calls `ended` once, on any thread. Asks `admit`,
  // unless it is empty, before an unknown reader gets a timeline.
  using Begin = std::function<void(UserId reader, Admit admit, std::function<void()> ended)>;
  // Rebuilds by requests to the stores, and reports to `metrics`. All outlive it.
  static Begin By(Exchanges& exchanges, const ShardMap& map, timeline::RebuildRules rules,
                  Metrics& metrics);

  static constexpr size_t kBacklog = 4;
  static constexpr int kTurns = 30;

  // Called once, on any thread.
  using Then = std::function<void()>;

  // `clock`: any thread. `metrics` outlives this, and this outlives the rebuilds that it began.
  Rebuilds(Begin begin, Limits limits, Metrics& metrics, std::function<Time()> clock,
           ShardMap map = {})
      : begin_(std::move(begin)),
        limits_(limits),
        metrics_(metrics),
        clock_(std::move(clock)),
        map_(std::move(map)),
        queues_(map_.shards()) {}

  // Never blocks for long. False: the queue is full. `known`: the reader has a row. `slow`: the
  // shard in whose queue the reader waits, if a slow one did not answer; else it is the reader's.
  [[nodiscard]] bool Offer(UserId reader, bool known, std::optional<Shard> slow = {});

  // Whether kBacklog readers or more of this one's shard wait for each that is under way, if all
  // shards are alike. A pull would then hardly be faster.
  [[nodiscard]] bool HasBacklog(UserId reader);

  // Like Offer, for a reader about whom nothing is known yet. `then` is called when the rebuild has
  // ended, well or not, or the wait was too long, or its client has left, perhaps within the call.
  // False: the queue is full, and `then` is not called.
  [[nodiscard]] bool Await(UserId reader, Alive alive, Then then);
  // Ends the waits that were too long, and, ten times a second, those of clients who have left. A
  // reader for whom only such waited is not rebuilt. Call it often.
  void Step();
  // From here on nobody waits; the next Step ends all waits.
  void Stop();

 private:
  struct Wait {
    Alive alive;
    Then then;
  };
  struct Taken {  // a reader who waits or is being rebuilt
    Shard queue = 0;
    bool judged = true;  // known, or counted among the strangers
    std::vector<Wait> waits = {};
    uint64_t number = 0;  // of this rebuild
    Time since = {};
    bool begun = false;
  };
  struct Awaited {
    UserId reader;
    uint64_t number;  // of the rebuild
    int turn;         // of kTurns
    Time until;       // its end
    uint64_t begun;   // rebuilds of its queue begun before this turn
  };
  struct Queue {
    std::deque<UserId> waiting = {};
    uint64_t begun_ever = 0;
    size_t under_way = 0;
  };

  Queue* NextQueue();
  UserId TakeNext(Queue& queue);
  void Add(UserId reader, Taken taken);
  void AwaitFor(UserId reader, uint64_t number, int turn);
  void StartWhatMayStart();
  void Ended(UserId reader);
  std::vector<Then> TakeOverdue();
  void TakeLeft(std::vector<Then>& left);
  bool StrangerFits();

  const Begin begin_;
  const Limits limits_;
  Metrics& metrics_;
  const std::function<Time()> clock_;
  const ShardMap map_;

  std::mutex mutex_;
  // Below: under mutex_.
  std::vector<Queue> queues_;  // by shard
  size_t next_ = 0;            // the queue to look at first
  size_t waiting_ = 0;         // in all queues
  uint64_t taken_ever_ = 0;
  std::map<UserId, Taken> taken_;
  size_t pages_ = 0;             // that wait
  std::deque<Awaited> awaited_;  // in the order of `until`; some are done
  std::deque<Time> strangers_;   // until when each counts
  Time look_again_{};            // for clients who have left
  size_t under_way_ = 0;
  bool starting_ = false;  // a thread starts what may start
  bool stopping_ = false;
};

}  // namespace fanline::api
