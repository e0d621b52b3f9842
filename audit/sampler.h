// Compares a few live timelines with the truth, again and again, and says how many items are
// missing of 10,000. 0 is the only good value.
//
// Every sample looks at the next few readers of a walk over the live: indexes of this process's
// ranges, range by range in turn, so in time at everybody. What a look finds may be in flight. So
// it is looked at again, not before `again_after`, and not before every hint that was in the log
// then is applied: the hint of what was missing at first is one of them. The second look waits for
// an end of the log that was asked for then or later, however short `again_after` is. What was so
// both times is wrong, and is counted once. A change whose hint was not in the log by then is
// counted too: a dispatcher or a mirror that was down for longer than that has readers miss it.
//
// A timeline known to be wrong is looked at again in every sample, until it is right, gone, or
// another process's. So the share of misses, which is of the last look at each of the last
// `remembered` readers, is 0 again soon after a repair.
//
// A look that fails keeps no other from being made: a shard may be away for long, and what hangs on
// the other shards is judged all the same.
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
#include "audit/progress.h"
#include "fanline/base/time.h"
#include "fanline/model/bucket.h"

namespace fanline::audit {

struct SamplerLimits {
  Duration every = std::chrono::seconds(10);  // between samples
  uint32_t readers = 5;                       // new ones of a sample
  Duration again_after = std::chrono::seconds(10);
  Duration longest_wait = std::chrono::minutes(10);  // for hints; then a first look is forgotten
  size_t remembered = 1'000;                         // readers
  size_t suspects = 100;                             // that wait for their second look
  size_t wrong_again = 20;                           // known to be wrong, looked at in a sample
};

// Called from the sampler's thread. The do-nothing default serves tests.
class SampleMetrics {
 public:
  virtual ~SampleMetrics() = default;
  enum class Result { kGood, kWrong, kUnsettled, kNotJudged };

  virtual void Sampled() {}                                      // a sample has ended
  virtual void Judged(Result, uint64_t /*items*/) {}             // a reader's timeline
  virtual void Found(const std::vector<Difference>& /*all*/) {}  // wrong with one, both times
  // Of the readers remembered: misses of 10,000 items, and timelines with something wrong. Misses
  // are no number (NaN) when there is no item to speak of: nothing found is not nothing compared.
  virtual void Holding(double /*misses_per_10000*/, size_t /*wrong*/) {}
  virtual void Failed(const std::string& /*resource*/, const std::string& /*reason*/) {}
};

class Sampler {
 public:
  // What it needs of the outside: one look, a page of a range's readers (RawTimelines::Listed), and
  // the time, as looks may take long.
  struct Ports {
    std::function<Status(UserId reader, Look* look)> look;
    std::function<Status(Range range, std::string* cursor, std::vector<UserId>* readers)> listed;
    std::function<Time()> clock;
  };

  // `metrics` outlives it. `first`: the range it begins at, of those there are.
  Sampler(Ports ports, RangeLayout layout, SamplerLimits limits, SampleMetrics& metrics,
          Range first = 0)
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
  Status Sample(const Progress& progress);
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
  const SamplerLimits limits_;
  SampleMetrics& metrics_;

  std::optional<Time> sample_at_;
  std::deque<Suspect> suspects_;     // oldest first
  std::map<UserId, Judged> judged_;  // of the last `remembered` readers
  uint64_t judgements_ = 0;
  UserId last_wrong_{};  // looked at again; the next are behind it

  Range last_range_;
  std::map<Range, std::string> cursors_;  // of walks under way
  std::deque<UserId> listed_;             // read of an index, not looked at yet
};

}  // namespace fanline::audit
