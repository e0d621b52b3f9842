// Has the timelines rebuilt of which an audit found something wrong: deletes each, as if it had
// expired, and makes it live again, as its reader would by reading.
//
// Safe beside pushers, readers and another repair. Deleting a timeline is always safe: its reader
// is served by pulls until it is live again, and pushes pass over a reader who is not live. What is
// right already is rebuilt for nothing at worst.
//
// What was only in flight is not touched: each timeline is looked at twice, `after` apart, and
// rebuilt when something was wrong with it both times. Then once more; what is wrong still gets
// `after` too. Throttled. Blocking, one thread; time is its ports'.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "audit/look.h"
#include "fanline/base/outcome.h"
#include "fanline/base/time.h"
#include "timeline/rebuild.h"

namespace fanline::feedctl {

struct RepairLimits {
  Duration after = std::chrono::seconds(10);
  uint32_t per_second = 20;  // timelines rebuilt
};

struct RepairResult {
  uint64_t wrong = 0;        // timelines of which the audit found something wrong
  uint64_t in_flight = 0;    // of these: right when looked at again, or not live any more
  uint64_t rebuilt = 0;      // and live again
  uint64_t left = 0;         // not rebuilt: refused, given up, or interrupted before their turn
  uint64_t still_wrong = 0;  // rebuilt, and wrong all the same
  bool good() const { return left == 0 && still_wrong == 0; }
};

class Repair {
 public:
  struct Ports {
    std::function<Status(UserId reader, audit::Look* look)> look;
    std::function<Status(UserId reader)> drop;
    std::function<Status(UserId reader, timeline::RebuildResult* result)> rebuild;
    std::function<bool(Duration time)> wait;  // false: interrupted
  };

  Repair(Ports ports, RepairLimits limits) : ports_(std::move(ports)), limits_(limits) {}

  // `readers`: of whom something was wrong. Not done: a service is away; *result says how far it
  // came, and to run it again is safe.
  [[nodiscard]] Status Run(const std::vector<UserId>& readers, RepairResult* result);

 private:
  using Wrong = std::map<UserId, std::vector<audit::Difference>>;

  Status LookAt(const std::vector<UserId>& readers, Wrong* wrong) const;
  // Those of whom something is wrong twice. Does not wait when nothing is wrong at first.
  Status LookTwice(const std::vector<UserId>& readers, std::vector<UserId>* wrong, bool* stopped);
  Status Rebuild(UserId reader, RepairResult* result) const;

  const Ports ports_;
  const RepairLimits limits_;
};

}  // namespace fanline::feedctl
