// Table log1: what was changed and may still have to be relayed, and the requests of a relay about
// it. Each change of a forward edge, and each of a friendship, is pending from its own
// transaction on until all that follows from it was acknowledged and it is marked done.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "fanline/base/outcome.h"
#include "fanline/base/time.h"
#include "fanline/model/bucket.h"
#include "fanline/model/edge.h"

namespace fanline {

enum class ChangeKind {
  kEdge = 1,        // `edge` as it was written: the reverse row is to agree
  kFriendship = 2,  // src, dst: the pair, smaller id first; live: friends; ver: of friend_request
};

// Which row of log1. Its id alone does not say so: a shard that fails over and loses its tail gives
// the same ids out once more.
struct LogRow {
  uint64_t id = 0;
  ChangeKind kind = ChangeKind::kEdge;
  EdgeKey edge;
  uint64_t ver = 0;
  friend auto operator<=>(const LogRow&, const LogRow&) = default;
};

struct LoggedChange {
  uint64_t id = 0;
  ChangeKind kind = ChangeKind::kEdge;
  Edge edge;
  UnixMs written_at = 0;  // the server's clock

  LogRow row() const { return {id, kind, edge.key(), edge.ver}; }
};

// The oldest `limit` pending rows above `after`, by id. Transactions do not commit in the order of
// their ids, so `after` is for one pass, and a pass from 0 follows it.
struct ReadPending {
  using Reply = struct PendingRead;
  uint64_t id = 0;
  Shard shard = 0;
  uint64_t after = 0;
  uint32_t limit = 0;
};
struct PendingRead {
  uint64_t id = 0;
  Status status;
  std::vector<LoggedChange> changes;
};

// Repeating it changes nothing; a row that was lost is none, whoever has its id now.
struct MarkDone {
  using Reply = struct MarkedDone;
  uint64_t id = 0;
  Shard shard = 0;
  std::vector<LogRow> rows;
};
struct MarkedDone {
  uint64_t id = 0;
  Status status;
};

// Deletes rows that are done and older than `keep`, oldest first, at most `most` of them.
struct PurgeDone {
  using Reply = struct PurgedDone;
  uint64_t id = 0;
  Shard shard = 0;
  std::chrono::seconds keep{0};
  uint32_t most = 0;
};
struct PurgedDone {
  uint64_t id = 0;
  Status status;
  uint64_t deleted = 0;
};

}  // namespace fanline
