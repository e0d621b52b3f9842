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

// One record of relation-log. Whoever decodes hands on every record, also one that says nothing
// (kOther): the position counts them all.
struct PairRecord {
  enum class Kind : uint8_t { kWritten, kMirrored, kOther } kind = Kind::kOther;  // msg1, msg2
  int32_t partition = 0;
  int64_t offset = 0;
  UnixMs appended = 0;  // LogAppendTime
  EdgeKey edge;
  uint64_t ver = 0;
};

// Asks where the log ends, and the answer. `asked_at` comes back as it was: the end may be read
// any time after it.
struct WatermarkWanted {
  int32_t partition = 0;
  Time asked_at{};
};
struct HighWatermark {
  int32_t partition = 0;
  Time asked_at{};
  int64_t offset = -1;  // the next record's; -1: could not be read
};

// Compare the two rows of an edge and set right what differs (verdict.h). Each gets one reply.
struct Check {
  int32_t partition = 0;
  uint64_t id = 0;
  EdgeKey edge;
  uint64_t ver = 0;      // that is pending
  uint32_t attempt = 1;  // from 2 on it is a second check: what looks wrong now was so before
};
struct Checked {
  int32_t partition = 0;
  uint64_t id = 0;
  EdgeKey edge;
  // The rows agree or the reverse one has at least `ver`, be it that the check made it so, and the
  // hint sync(src, dst) is acknowledged. False: not, or not known; it will be asked again.
  bool resolved = false;
};

// Write the pair to relation-log.retry, where it is checked later and may take its time. Each gets
// one reply.
struct Retry {
  int32_t partition = 0;
  uint64_t id = 0;
  EdgeKey edge;
  uint64_t ver = 0;
};
struct RetryAppended {
  int32_t partition = 0;
  uint64_t id = 0;
  EdgeKey edge;
  bool acknowledged = false;
};

// How far the mirror is behind: the age of the oldest msg1 it has not applied.
struct MirrorLag {
  Duration lag{};
};

using PairInput = std::variant<PartitionAssigned, PartitionRevoked, PairRecord, HighWatermark,
                               Checked, RetryAppended, MirrorLag>;

struct PairProgress : Progress {
  std::vector<WatermarkWanted> watermarks;
  std::vector<Check> checks;
  std::vector<Retry> retries;
};

}  // namespace fanline::reconciler
