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
#include <utility>
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
  [[nodiscard]] Status Run(const std::vector<UserId>& readers, RepairResult* result) {
    *result = {.wrong = readers.size()};
    std::vector<UserId> wrong;
    bool stopped = false;
    if (Status status = LookTwice(readers, &wrong, &stopped); !status.done()) return status;
    if (stopped) {
      result->left = readers.size();
      return Status::Done();
    }
    result->in_flight = readers.size() - wrong.size();
    const Duration pause = Duration(std::chrono::seconds(1)) / limits_.per_second;
    for (size_t i = 0; i < wrong.size(); ++i) {
      stopped = i > 0 && !ports_.wait(pause);
      if (stopped) {
        result->left += wrong.size() - i;
        wrong.resize(i);
        break;
      }
      if (Status status = Rebuild(wrong[i], result); !status.done()) return status;
    }
    std::vector<UserId> still;
    if (Status status = LookTwice(wrong, &still, &stopped); !status.done()) return status;
    result->still_wrong = still.size();
    return Status::Done();
  }

 private:
  using Wrong = std::map<UserId, std::vector<audit::Difference>>;

  Status LookAt(const std::vector<UserId>& readers, Wrong* wrong) const {
    for (const UserId reader : readers) {
      audit::Look look;
      if (Status status = ports_.look(reader, &look); !status.done()) return status;
      if (!look.differences.empty()) wrong->emplace(reader, std::move(look.differences));
    }
    return Status::Done();
  }
  // The readers whose timeline is wrong both times. Does not wait if none is wrong the first time.
  Status LookTwice(const std::vector<UserId>& readers, std::vector<UserId>* wrong, bool* stopped) {
    Wrong first, second;
    if (Status status = LookAt(readers, &first); !status.done()) return status;
    if (first.empty()) return Status::Done();
    *stopped = !ports_.wait(limits_.after);
    if (*stopped) return Status::Done();
    std::vector<UserId> again;
    for (const auto& [reader, differences] : first) again.push_back(reader);
    if (Status status = LookAt(again, &second); !status.done()) return status;
    for (const auto& [reader, differences] : second) {
      if (!audit::InBoth(first.at(reader), differences).empty()) wrong->push_back(reader);
    }
    return Status::Done();
  }
  Status Rebuild(UserId reader, RepairResult* result) const {
    if (Status status = ports_.drop(reader); !status.done()) return status;
    auto ended = timeline::RebuildResult::kUnderWay;
    if (Status status = ports_.rebuild(reader, &ended); !status.done()) return status;
    const bool refused =
        ended == timeline::RebuildResult::kRefused || ended == timeline::RebuildResult::kGaveUp;
    ++(refused ? result->left : result->rebuilt);  // else rebuilt by us or by a reader
    return Status::Done();
  }

  const Ports ports_;
  const RepairLimits limits_;
};

}  // namespace fanline::feedctl
