// Table `author_mode`: how new posts of an author reach timelines
// (docs/decisions/0027-authors-merged-at-read.md). The functions throw MysqlError.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "backends/mysql/sql/shard_connections.h"
#include "backends/mysql/sql/shard_port.h"
#include "fanline/model/author_mode.h"
#include "fanline/model/ids.h"
#include "fanline/ports/post_store.h"

namespace fanline::mysql {

// All on a connection to the authors' shard. An author without a row is pushed and never was
// otherwise.
[[nodiscard]] AuthorMode ReadAuthorMode(Connection& connection, UserId author);
// Any number of `authors`; the result has those with a row.
[[nodiscard]] std::map<UserId, AuthorMode> ReadAuthorModes(Connection& connection,
                                                           const std::vector<UserId>& authors);

// By hand. Holds for posts whose rows are made from now on, until the next call. Idempotent.
void SetAuthorMode(Connection& connection, UserId author, bool pull);
// Allows from now on that the author is switched automatically; until then the mode stays.
// Idempotent.
void LeaveAuthorMode(Connection& connection, UserId author);

// Every marked author of a shard, for an audit. Reads pages as sql/scan.h does.
Status ScanMarkedAuthors(ShardConnections& connections, Shard shard,
                         const std::function<void(UserId author, bool announced)>& each);

// Stores what pushers estimate (fanline/ports/post_store.h). Estimates that exceed `queue` are
// lost.
struct WeightService {
  static constexpr const char* kName = "author weights";
  static constexpr PoolLimits kLimits{.queue = 64};

  AuthorWeighed Do(Connection& connection, const WeighAuthor& request);
};
using MysqlAuthorWeights = ShardPort<WeightService, WeighAuthor>;

}  // namespace fanline::mysql
