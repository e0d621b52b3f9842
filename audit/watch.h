// Compares a few live timelines with the truth, again and again, beside a fleet at work, and says
// how many items are missing of 10,000. 0 is the only good value.
//
// A round looks at the next few readers of a walk over the live: indexes, range by range in turn,
// so in time at everybody. What a look finds may be in flight. So the watch looks again, not before
// `again_after`, and not before every hint is applied that was in the log then: the hint of what
// was missing at first is one of them. The second look waits for an end of the log that was asked
// for then or later, however short `again_after` is. What differs both times is wrong, and is
// counted once. A change whose hint was not in the log by then is counted too: a dispatcher or a
// mirror that was down for longer than that has readers miss it.
//
// A timeline known to be wrong is looked at again in every round, until it is right or gone. So the
// share of misses, which is of the last look at each of the last `remembered` readers, is 0 again
// soon after a repair.
//
// A look that fails stops no other: a shard may be away for long, and what lies on the other shards
// is judged all the same.
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
  int64_t end = 0;      // of the log: not below what it was at `end_asked_at`
  Time end_asked_at{};  // by the clock of Ports
};
using Progress = std::map<Range, RangeProgress>;  // the ranges that are looked at

struct WatchLimits {
  Duration every = std::chrono::seconds(10);  // between rounds
  uint32_t readers = 5;                       // new ones of a round
  Duration again_after = std::chrono::seconds(10);
  Duration longest_wait = std::chrono::minutes(10);  // for hints; then a first look is forgotten
  size_t remembered = 1'000;                         // readers
  size_t suspects = 100;                             // that wait for their second look
  size_t wrong_again = 20;                           // known to be wrong, looked at in a round
};

// Called from Step. The do-nothing default serves tests.
class WatchMetrics {
 public:
  virtual ~WatchMetrics() = default;
  enum class Result { kGood, kWrong, kUnsettled, kNotJudged };

  virtual void RoundEnded() {}                                   // without a failure
  virtual void Judged(Result, uint64_t /*items*/) {}             // a reader's timeline
  virtual void Found(const std::vector<Difference>& /*all*/) {}  // wrong with one, both times
  // Of the readers remembered: misses of 10,000 items, and timelines with something wrong. Misses
  // are no number (NaN) when there is no item to speak of: nothing found is not nothing compared.
  virtual void Holding(double /*misses_per_10000*/, size_t /*wrong*/) {}
  virtual void Failed(const std::string& /*resource*/, const std::string& /*reason*/) {}
};

class Watch {
 public:
  // What it needs of the outside: one look, a page of a range's readers (RawTimelines::Listed), and
  // the time, as looks may take long.
  struct Ports {
    std::function<Status(UserId reader, Look* look)> look;
    std::function<Status(Range range, std::string* cursor, std::vector<UserId>* readers)> listed;
    std::function<Time()> clock;
  };

  // `metrics` outlives it. `first`: the range it begins at, of those there are.
  Watch(Ports ports, RangeLayout layout, WatchLimits limits, WatchMetrics& metrics, Range first = 0)
      : ports_(std::move(ports)),
        layout_(layout),
        limits_(limits),
        metrics_(metrics),
        last_range_(first - 1) {}

  // Blocks while it looks. When to call it next; earlier is no harm.
  [[nodiscard]] Time Step(const Progress& progress, Time now);

 private:
  struct Suspect {
    UserId reader{};
    std::vector<Difference> found;
    Time since{};                       // not before the look ended
    std::optional<int64_t> until = {};  // the offset that is to be applied before the second look
  };
  struct Judged {
    uint64_t items = 0;
    std::vector<Difference> wrong;
    uint64_t number = 0;  // of the judgement: the lowest is forgotten first
  };

  void Forget(const Progress& progress);
  Status LookAgain(const Progress& progress, Time now);
  bool IsSettled(Suspect& suspect, const RangeProgress& progress) const;
  Status Round(const Progress& progress);
  Status LookAtTheWrong();
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
  UserId last_wrong_{};  // looked at again; the next are behind it

  Range last_range_;
  std::map<Range, std::string> cursors_;  // of walks under way
  std::deque<UserId> listed_;             // read of an index, not looked at yet
};

}  // namespace fanline::audit
