// Requests of the log scan about log1 (change_log.h): each row is looked at once more when it is
// old enough. A shard keeps the scan's place (table log_scan) for all who scan it, and rows that
// are not passed are not purged. Repeating a request does no harm.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "fanline/base/outcome.h"
#include "fanline/base/time.h"
#include "fanline/model/bucket.h"
#include "fanline/model/edge.h"
#include "fanline/ports/change_log.h"

namespace fanline {

// Reads the next `limit` rows behind the scan's place, by id, that are older than `age`. All rows
// below them are there by then: no transaction stays open for so long.
struct ReadLogged {
  using Reply = struct LoggedRead;
  uint64_t id = 0;
  Shard shard = 0;
  std::chrono::milliseconds age{0};
  uint32_t limit = 0;
};
struct LoggedRead {
  uint64_t id = 0;
  Status status;
  uint64_t place = 0;                 // that was read: rows up to this id are passed
  UnixMs passed = 0;                  // what was written up to then is passed; 0: it never began
  std::vector<LoggedChange> changes;  // those that are done
  uint64_t last = 0;                  // the highest id that was read, pending or done; place: none
  UnixMs up_to = 0;   // all that was written up to then was read; the server's clock
  bool more = false;  // there are more of them
};

// Moves the place on, unless another scanner has moved it meanwhile.
struct MoveLogScan {
  using Reply = Acknowledged<MoveLogScan>;
  uint64_t id = 0;
  Shard shard = 0;
  uint64_t from = 0, to = 0;
  UnixMs up_to = 0;
};
using LogScanMoved = MoveLogScan::Reply;

// Reads the versions of their friendship (friend_request) that edges of one src's shard have: as
// last written to them, or settled by a later change. No row: 0.
struct ReadFriendVersions {
  using Reply = struct FriendVersionsRead;
  uint64_t id = 0;
  Shard shard = 0;
  std::vector<EdgeKey> edges;
};
struct FriendVersionsRead {
  uint64_t id = 0;
  Status status;
  std::vector<uint64_t> versions;  // one per edge, in the request's order
};

// Writes a friendship's change to log1 again, as a new row that is pending: the mirror brings it to
// both edges, unless they have a later one.
struct LogAgain {
  using Reply = Acknowledged<LogAgain>;
  uint64_t id = 0;
  Shard shard = 0;
  LoggedChange change;
};
using LoggedAgain = LogAgain::Reply;

}  // namespace fanline
