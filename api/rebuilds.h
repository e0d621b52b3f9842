// Makes timelines live behind the answers that found them missing: a bounded queue of readers, and
// a bounded number of threads that rebuild one each. A page waits for it only where many come back
// at once: when others wait for theirs, or more are to be pulled than can be at once. A rebuild
// reads the truth for both, and pulls beside it would only make all wait longer.
//
// A reader waits or is rebuilt once at a time here, and Redis keeps other processes from doing it
// beside us (Rebuild in timeline/rebuild.h).
//
// Anybody may ask for the timeline of a user nobody knows. Such a reader gets one too, so that
// asking again costs no shard anything; it lives for kEmptyTimelineTtl, and no more than
// Limits::strangers of them are made in that time.
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
    size_t waiting = 16'384;  // one more is not made live now; its next visit asks again
    size_t strangers = 10'000;
    // Of those who await one, who then go on without; unless as many rebuilds have begun in that
    // time as are still to begin before theirs, or theirs has begun. A pull for each who waits in a
    // queue that moves would double the work just when there is most of it.
    Duration longest_wait = std::chrono::seconds(60);
  };
  using Admit = timeline::Reader::Admit;
  // Blocks and throws nothing; one thread at a time. Asks `admit`, unless it is empty, before a
  // reader nobody knows gets a timeline.
  using Rebuild = std::function<void(UserId reader, const Admit& admit)>;
  // By `reader`, told to `metrics`; what both use outlives it.
  static Rebuild By(timeline::Reader reader, Metrics& metrics);

  static constexpr size_t kBacklog = 4;

  // Called once, on any thread. False: the end has come.
  using Then = std::function<void(bool go_on)>;

  // A thread for each of `rebuilds`. `clock`: any thread. `metrics` outlives this.
  Rebuilds(std::vector<Rebuild> rebuilds, Limits limits, Metrics& metrics,
           std::function<Time()> clock);
  // Waits for those under way. Those that wait are forgotten, and who awaits them is told.
  ~Rebuilds();
  Rebuilds(const Rebuilds&) = delete;
  Rebuilds& operator=(const Rebuilds&) = delete;

  // Never blocks for long. False: there is no room. `known`: some row is about the reader.
  [[nodiscard]] bool Offer(UserId reader, bool known);

  // Whether so many readers wait that a pull would hardly be sooner: kBacklog for each thread.
  [[nodiscard]] bool HasBacklog();

  // The same as Offer, of a reader of whom nothing is known yet. `then` is called when the rebuild
  // has ended, whatever came of it, or was waited for too long. False, and `then` is not called:
  // there is no room.
  [[nodiscard]] bool Await(UserId reader, Then then);

 private:
  struct Taken {         // a reader who waits, or is under way
    bool judged = true;  // known, or counted among the strangers
    std::vector<Then> then = {};
    uint64_t number = 0;  // of this rebuild
  };
  struct Awaited {
    UserId reader;
    uint64_t number;  // of the rebuild
    Time until;
    uint64_t begun;  // rebuilds, when this wait began
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
