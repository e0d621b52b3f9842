// Table log1, the changes that a mirror carries to the reverse rows, and the requests about them.
// Each change of a forward edge, of a friendship or of mutes is pending from its own transaction
// on. Once everything that follows from it is acknowledged, it is marked done.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fanline/base/outcome.h"
#include "fanline/base/time.h"
#include "fanline/model/bucket.h"
#include "fanline/model/edge.h"

namespace fanline {

enum class ChangeKind {
  kEdge = 1,        // `edge` as it was written: the reverse row must come to agree
  kFriendship = 2,  // src, dst: the pair, smaller id first; live: friends; ver: of friend_request
  kMutes = 3,       // src mutes or unmutes: the timeline must be told; dst is src, ver: of mute
};

// Names a row of log1. The id alone does not: a shard that loses its tail in a failover gives out
// the same ids again.
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

// Why nobody can apply what the row says: somebody wrote it by hand, with src as dst, version 0 or
// an unknown kind. None: it is sound. Pure.
std::optional<std::string> WhyDamaged(const LoggedChange& change);

// Reads the oldest `limit` pending rows above `after`, by id. Transactions do not commit in the
// order of their ids: a row may appear below an id that was read before.
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
  // Of a read from 0: the highest id of any row, looked up before the changes.
  uint64_t newest = 0;
};

// Asks which of these rows are pending. Rows that are done or gone are left out of the answer. No
// order.
struct AskPending {
  using Reply = struct PendingAsked;
  uint64_t id = 0;
  Shard shard = 0;
  std::vector<uint64_t> log_ids;  // at most 1,024; an id may come more than once
};
struct PendingAsked {
  uint64_t id = 0;
  Status status;
  std::vector<LoggedChange> pending;
};

// Marks rows done; repeating it changes nothing. A row must match in all fields: the id of a lost
// row may belong to another row now.
struct MarkDone {
  using Reply = Acknowledged<MarkDone>;
  uint64_t id = 0;
  Shard shard = 0;
  std::vector<LogRow> rows;
};
using MarkedDone = MarkDone::Reply;

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
