// What goes into the pair tracker and what comes out of it.
#pragma once

#include <cstdint>
#include <vector>

#include "fanline/base/time.h"
#include "fanline/consuming/consumer.h"
#include "fanline/model/edge.h"

namespace fanline::reconciler {

// One record of relation-log; also kOther is given, since offsets advance on all.
struct PairRecord {
  enum class Kind : uint8_t { kWritten, kMirrored, kOther } kind = Kind::kOther;  // msg1, msg2
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
// they do, they are repaired (checker.h). Each check gets one result.
struct CheckOrder {
  uint64_t ticket = 0;  // given back
  EdgeKey edge;
  EdgeClaim claim;  // what the pending message says
};

// Orders that the pair is written to relation-log.retry, where it is checked later. Each retry gets
// one reply.
struct Retry {
  int32_t partition = 0;
  uint64_t id = 0;
  EdgeKey edge;
  EdgeClaim claim;
};

struct PairProgress : Progress {
  std::vector<CheckOrder> checks;
  std::vector<Retry> retries;
};

}  // namespace fanline::reconciler
