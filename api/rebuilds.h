// Makes timelines live behind the answers that found them missing: a bounded queue of readers, and
// a bounded number of threads that each rebuild one. A page waits for its rebuild only under load:
// when others wait for theirs, or when more pages must be pulled than can be at once. The rebuild
// then reads the truth for both, since extra pulls would make all wait longer.
// A reader is queued or rebuilt at most once at a time here; Redis keeps other processes from
// rebuilding the same reader (Rebuild in timeline/rebuild.h).
// Any client may ask for the timeline of an unknown user (a stranger). Such a reader gets one, too,
// so that asking again costs the shards nothing. It lives for kEmptyTimelineTtl, and at most
// Limits::strangers are made in that time.
//
// Thread-safe.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "api/metrics.h"
#include "fanline/base/time.h"
#include "fanline/model/ids.h"
#include "timeline/reader.h"

namespace fanline::api {

class Rebuilds {
 public:
  struct Limits {
    size_t waiting = 16'384;  // a reader beyond it is not made live now; the next visit asks again
    size_t strangers = 10'000;
    // How long a page waits for its rebuild before it is pulled. It keeps waiting if its rebuild
    // has begun, or if as many rebuilds began in that time as are still ahead of it: while the
    // queue moves, pulls would double the work.
    Duration longest_wait = std::chrono::seconds(60);
  };
  using Admit = timeline::Reader::Admit;
  // Blocks and throws nothing; one thread at a time. Asks `admit`, unless it is empty, before an
  // unknown reader gets a timeline.
  using Rebuild = std::function<void(UserId reader, const Admit& admit)>;
  // Rebuilds with `reader` and reports to `metrics`; what both use outlives it.
  static Rebuild By(timeline::Reader reader, Metrics& metrics);

  static constexpr size_t kBacklog = 4;

  // Called once, on any thread. False: this object is being destroyed.
  using Then = std::function<void(bool go_on)>;

  // Starts a thread for each of `rebuilds`. `clock`: any thread. `metrics` outlives this.
  Rebuilds(std::vector<Rebuild> rebuilds, Limits limits, Metrics& metrics,
           std::function<Time()> clock);
  // Waits for rebuilds under way. Queued ones are dropped; pages that wait for them get false.
  ~Rebuilds();
  Rebuilds(const Rebuilds&) = delete;
  Rebuilds& operator=(const Rebuilds&) = delete;

  // Never blocks for long. False: the queue is full. `known`: the reader has a row.
  [[nodiscard]] bool Offer(UserId reader, bool known);

  // Whether kBacklog readers or more wait for each thread. A pull would then hardly be faster.
  [[nodiscard]] bool HasBacklog();

  // Like Offer, for a reader about whom nothing is known yet. `then` is called when the rebuild has
  // ended, well or not, or the wait was too long. False: the queue is full, and `then` is not
  // called.
  [[nodiscard]] bool Await(UserId reader, Then then);

 private:
  struct Taken {         // a reader who waits or is being rebuilt
    bool judged = true;  // known, or counted among the strangers
    std::vector<Then> then = {};
    uint64_t number = 0;  // of this rebuild
  };
  struct Awaited {
    UserId reader;
    uint64_t number;  // of the rebuild
    Time until;
    uint64_t begun;  // rebuilds begun before this wait
  };

  void Run(const Rebuild& rebuild);
  void Take(UserId reader, Taken taken);
  void AwaitFor(UserId reader, uint64_t number);
  std::vector<Then> TakeOverdue();
  bool StrangerFits();

  const Limits limits_;
  const size_t backlog_;
  Metrics& metrics_;
  const std::function<Time()> clock_;

  std::mutex mutex_;
  std::condition_variable work_;
  // Below: under mutex_.
  std::deque<UserId> waiting_;
  std::map<UserId, Taken> taken_;
  uint64_t taken_ever_ = 0, begun_ever_ = 0;
  std::deque<Awaited> awaited_;  // in the order of `until`; some are done
  std::deque<Time> strangers_;   // until when each counts
  bool stopping_ = false;

  std::vector<std::thread> threads_;  // last: they use the others
};

}  // namespace fanline::api
