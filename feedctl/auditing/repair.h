// Rebuilds the timelines that an audit found wrong: deletes each, as if it had expired, and makes
// it live again, as its reader would by reading.
// Safe beside pushers, readers and another repair. Deleting a timeline is always safe: its reader
// is served by pulls until it is live again, and pushes skip a reader who is not live. At worst a
// timeline is rebuilt for nothing.
// What was only in flight is left alone: each timeline is checked twice, `after` apart, and rebuilt
// only if it is wrong both times. Rebuilt timelines are checked in the same way. Throttled.
// Blocking; one thread. Time comes from the ports.
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
  uint64_t wrong = 0;        // timelines that the audit found wrong
  uint64_t in_flight = 0;    // of these, right when checked again, or no longer live
  uint64_t rebuilt = 0;      // and live again
  uint64_t left = 0;         // not rebuilt: refused, given up, or interrupted first
  uint64_t still_wrong = 0;  // rebuilt, but still wrong
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

  // `readers`: those whose timeline is wrong. Not done: a service is away; *result tells how far
  // the repair came. Running it again is safe.
  [[nodiscard]] Status Run(const std::vector<UserId>& readers, RepairResult* result);

 private:
  using Wrong = std::map<UserId, std::vector<audit::Difference>>;

  Status LookAt(const std::vector<UserId>& readers, Wrong* wrong) const;
  // The readers whose timeline is wrong both times. Does not wait if none is wrong the first time.
  Status LookTwice(const std::vector<UserId>& readers, std::vector<UserId>* wrong, bool* stopped);
  Status Rebuild(UserId reader, RepairResult* result) const;

  const Ports ports_;
  const RepairLimits limits_;
};

}  // namespace fanline::feedctl
