// The bell of a shard's log1: its server's binary log, which tells of new rows without being asked
// again and again.
//
// A bell proves nothing. It may be silent, late, repeat itself, or tell of rows that are not there:
// a server sends an event before everybody sees its transaction, and it may lose that in a
// failover. Who hears of a row asks for it (AskPending), and finds by other reads what no bell told
// of.
#pragma once

#include <cstdint>
#include <vector>

#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"

namespace fanline {

// Answered when there are new rows, and after about a second if there are none. Ask again at once,
// one request per shard at a time: what comes between two of them is kept for the second, within
// bounds. The bell of a shard that nobody asks for is taken down.
//
// A bell begins at the present when it is hung up, and after each failure.
struct HearLog {
  using Reply = struct LogHeard;
  uint64_t id = 0;
  Shard shard = 0;
  bool anew = false;  // the shard's server may be another by now: hang it up there, at the present
};
struct LogHeard {
  uint64_t id = 0;
  Status status;                  // later: no bell, and why; nothing is kept
  std::vector<uint64_t> log_ids;  // of rows of log1; no order
  // The first answer since the bell was hung up: what passed before is not told.
  bool begun = false;
};

}  // namespace fanline
