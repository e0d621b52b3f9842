// What goes into the pair tracker and what comes out of it.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "fanline/base/time.h"
#include "fanline/consuming/consumer.h"
#include "fanline/model/edge.h"

namespace fanline::reconciler {

// One record of relation-log. Forward every record, also kOther: offsets advance on all of them.
struct PairRecord {
  enum class Kind : uint8_t { kWritten, kMirrored, kOther } kind = Kind::kOther;  // msg1, msg2
  int32_t partition = 0;
  int64_t offset = 0;
  UnixMs appended = 0;  // LogAppendTime
  EdgeKey edge;
  uint64_t ver = 0;
  // Only msg1 has these.
  bool live = false;
  UnixMs pos = 0;
  uint64_t log_id = 0;
};

// Orders a check: whether the edge is the mirror's, and if not, whether its two rows differ; if
// they do, they are repaired (checker.h). Each check gets one reply.
struct CheckOrder {
  uint64_t ticket = 0;  // given back
  EdgeKey edge;
  EdgeClaim claim;  // what the pending message says
};
struct Checked {
  uint64_t ticket = 0;
  EdgeKey edge;
  // The edge is the mirror's; or the rows agree at the claimed version or above, perhaps because
  // this check repaired them, and the hint sync(src, dst) is acknowledged. False: neither, or
  // unknown; the check is ordered again.
  bool resolved = false;
};

// Orders that the pair is written to relation-log.retry, where it is checked later. Each retry gets
// one reply.
struct Retry {
  int32_t partition = 0;
  uint64_t id = 0;
  EdgeKey edge;
  EdgeClaim claim;
};
struct RetryAppended {
  int32_t partition = 0;
  uint64_t id = 0;
  EdgeKey edge;
  bool acknowledged = false;
};

// How far an application's own mirror is behind: the age of the oldest msg1 it has not applied.
struct MirrorLag {
  Duration lag{};
};

using PairInput = std::variant<PartitionAssigned, PartitionRevoked, PairRecord, LogEndSeen, Checked,
                               RetryAppended, MirrorLag>;

struct PairProgress : Progress {
  std::vector<CheckOrder> checks;
  std::vector<Retry> retries;
};

}  // namespace fanline::reconciler
