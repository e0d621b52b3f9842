// Compares a few live timelines with the truth, again and again, beside a fleet at work, and
// reports how many of 10,000 items are missing. 0 is the only good value.
//
// A round looks at the next few readers of a walk over the live: indexes, range by range in turn,
// and so in time at everybody. A difference may be in flight, so the watch looks twice. The second
// look waits until `again_after` has passed, and until all hints are applied that were in the log
// at that time or later: the hint of a missing item is among them. What differs both times is wrong
// and is counted once. It is counted even if its hint was not in the log by then: a dispatcher or
// mirror that is down for longer makes readers miss posts.
//
// A timeline known to be wrong is looked at again in every round, until it is right or gone. The
// share of misses is taken from the last look at each of the last `remembered` readers, so it is 0
// again soon after a repair.
//
// A look that fails stops no other: while a shard is away, the others are still judged.
//
// Passive but for its ports: Step makes a bounded number of looks and says when it wants to be
// called again. Not thread-safe.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "audit/look.h"
#include "fanline/base/time.h"
#include "fanline/model/bucket.h"

namespace fanline::audit {

// How far the hints of a range are applied.
struct RangeProgress {
  int64_t applied = 0;  // all hints below this offset are in the timelines, for good
  int64_t end = 0;      // of the log; at least its end at `end_asked_at`
  Time end_asked_at{};  // by the clock of Ports
};
using Progress = std::map<Range, RangeProgress>;  // only these ranges are looked at

struct WatchLimits {
  Duration every = std::chrono::seconds(10);  // between rounds
  uint32_t readers = 5;                       // new ones in a round
  Duration again_after = std::chrono::seconds(10);
  Duration longest_wait = std::chrono::minutes(10);  // for hints; then the first look is forgotten
  size_t remembered = 1'000;                         // readers
  size_t suspects = 100;                             // readers that wait for their second look
  size_t wrong_again = 20;                           // wrong ones looked at again in a round
};

// Called from Step. The default does nothing and serves tests.
class WatchMetrics {
 public:
  virtual ~WatchMetrics() = default;
  enum class Result { kGood, kWrong, kUnsettled, kNotJudged };

  virtual void RoundEnded() {}                                   // without a failure
  virtual void Judged(Result, uint64_t /*items*/) {}             // a reader's timeline
  virtual void Found(const std::vector<Difference>& /*all*/) {}  // of one reader, both times
  // Among the readers remembered: misses per 10,000 items, and wrong timelines. Misses are NaN when
  // no item was compared, which is not the same as no item missing.
  virtual void Holding(double /*misses_per_10000*/, size_t /*wrong*/) {}
  virtual void Failed(const std::string& /*resource*/, const std::string& /*reason*/) {}
};

class Watch {
 public:
  // What it needs from outside: a look, a page of a range's readers (RawTimelines::Listed), and the
  // time, since looks may take long.
  struct Ports {
    std::function<Status(UserId reader, Look* look)> look;
    std::function<Status(Range range, std::string* cursor, std::vector<UserId>* readers)> listed;
    std::function<Time()> clock;
  };

  // `metrics` outlives it.
  Watch(Ports ports, RangeLayout layout, WatchLimits limits, WatchMetrics& metrics)
      : ports_(std::move(ports)), layout_(layout), limits_(limits), metrics_(metrics) {}

  // Blocks while it looks. Returns when to call it next; earlier does no harm.
  [[nodiscard]] Time Step(const Progress& progress, Time now);

 private:
  struct Suspect {
    UserId reader{};
    std::vector<Difference> found;
    Time since{};  // no earlier than the look's end
    std::optional<int64_t> until =
        {};  // the second look waits until hints below this offset are applied
  };
  struct Judged {
    uint64_t items = 0;
    std::vector<Difference> wrong;
    uint64_t number = 0;  // of the judgement; the lowest is forgotten first
  };

  void Forget(const Progress& progress);
  Status LookAgain(const Progress& progress, Time now);
  bool IsSettled(Suspect& suspect, const RangeProgress& progress) const;
  Status Round(const Progress& progress);
  Status RecheckWrong();
  Status LookAtNew(UserId reader);
  Status Next(const Progress& progress, std::optional<UserId>* reader);
  bool IsSuspect(UserId reader) const;
  void Suspected(UserId reader, std::vector<Difference> found);
  void Judge(UserId reader, const Look& look, std::vector<Difference> wrong);
  void Remember(UserId reader, uint64_t items, std::vector<Difference> wrong);
  void Show() const;

  const Ports ports_;
  const RangeLayout layout_;
  const WatchLimits limits_;
  WatchMetrics& metrics_;

  std::optional<Time> round_at_;
  std::deque<Suspect> suspects_;     // oldest first
  std::map<UserId, Judged> judged_;  // of the last `remembered` readers
  uint64_t judgements_ = 0;
  UserId last_wrong_{};  // the last wrong one looked at again

  Range last_range_ = -1;
  std::map<Range, std::string> cursors_;  // of walks under way
  std::deque<UserId> listed_;             // read from an index, not looked at yet
};

}  // namespace fanline::audit
