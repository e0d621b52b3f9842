// What syncs need (ReadSync of fanline/truth.h), for many at once.
#pragma once

#include <vector>

#include "backends/mysql/connection.h"
#include "fanline/truth.h"

namespace fanline::mysql {

// Answers in the order of `requests`, of authors of the connection's shard. Throws MysqlError.
// A member whose row exists without created_at counts as not visible, and is to be removed.
std::vector<SyncTruth> ReadSyncTruths(Connection& connection,
                                      const std::vector<ReadSync>& requests);

}  // namespace fanline::mysql
