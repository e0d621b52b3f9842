// The log scan's reads of log1 and its place in it (fanline/ports/log_scan.h). The functions throw
// MysqlError.
#pragma once

#include "backends/mysql/sql/connection.h"
#include "fanline/ports/log_scan.h"

namespace fanline::mysql {

[[nodiscard]] LoggedRead ReadBehindPlace(Connection& connection, const ReadLogged& request);
void MovePlace(Connection& connection, const MoveLogScan& request);
[[nodiscard]] std::vector<uint64_t> FriendVersions(Connection& connection,
                                                   const std::vector<EdgeKey>& edges);
void WriteAgain(Connection& connection, const LoggedChange& change);

// For a person who asks. up_to 0: the shard was never scanned.
struct LogScanPlace {
  UnixMs up_to = 0;  // changes that were written up to then were compared
  UnixMs now = 0;    // the server's clock
};
[[nodiscard]] LogScanPlace ReadLogScanPlace(Connection& connection);

}  // namespace fanline::mysql
