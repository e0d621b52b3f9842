// Tombstones that are collected, and the horizon behind which relations are not known any more
// (fanline/ports/tombstones.h). The functions throw MysqlError. One thread per shard serves the
// requests (shard_port.h).
#pragma once

#include "backends/mysql/sql/connection.h"
#include "backends/mysql/sql/shard_connections.h"
#include "backends/mysql/sql/shard_port.h"
#include "fanline/ports/tombstones.h"

namespace fanline::mysql {

// Of the connection's shard. 0: nothing was ever collected. Read it AFTER the rows that it is to
// judge: whoever deletes a row has moved it on before.
[[nodiscard]] UnixMs ReadHorizon(Connection& connection);
void RaiseHorizonTo(Connection& connection, UnixMs horizon);
// Done, or why what was asked for at `since` is refused: the unfollow after it may be forgotten.
[[nodiscard]] Status StatusOfAge(UnixMs since, UnixMs horizon);
// The highest of all shards.
[[nodiscard]] Status ReadHighestHorizon(ShardConnections& connections, Shard shards, UnixMs* out);

[[nodiscard]] TombstonesRead ReadBehindSweep(Connection& connection, const ReadTombstones& request);
[[nodiscard]] TombstonesDropped Drop(Connection& connection, const DropTombstones& request);
void MoveSweep(Connection& connection, const MoveTombstoneSweep& request);

struct TombstoneService {
  static constexpr const char* kName = "tombstones";
  static constexpr PoolLimits kLimits{};

  static ScanPassed Do(Connection& connection, const ReadScanPassed& request);
  static HorizonRaised Do(Connection& connection, const RaiseHorizon& request);
  static TombstonesRead Do(Connection& connection, const ReadTombstones& request);
  static TombstonesDropped Do(Connection& connection, const DropTombstones& request);
  static TombstoneSweepMoved Do(Connection& connection, const MoveTombstoneSweep& request);
};

using MysqlTombstoneStore = ShardPort<TombstoneService, ReadScanPassed, RaiseHorizon,
                                      ReadTombstones, DropTombstones, MoveTombstoneSweep>;

}  // namespace fanline::mysql
