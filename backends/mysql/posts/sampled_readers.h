// Table `sampled_reader`: readers whose home timelines hold a sample of others' posts
// (docs/decisions/0031-sampled-readers.md). The functions throw MysqlError.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "backends/mysql/sql/shard_connections.h"
#include "fanline/model/ids.h"

namespace fanline::mysql {

struct SampledReader {
  UserId reader{};
  uint32_t one_in = 1;
  bool by_hand = true;   // false: by the number of authors followed
  uint64_t follows = 0;  // authors, by the reader's counter; not written
};

// All on a connection to the readers' shard.

// one_in of those of any number of `readers` who have a row.
[[nodiscard]] std::map<UserId, uint32_t> ReadSamples(Connection& connection,
                                                     const std::vector<UserId>& readers);
// From now on pulls and rebuilds of the reader are of that sample. The live timeline is not: append
// a hint sync(reader, reader) after it. What was set by hand is changed by hand only. Idempotent.
void SetSample(Connection& connection, const SampledReader& to);

// Every row of a shard, by reader. Pages, as in sql/scan.h.
Status ScanSampledReaders(ShardConnections& connections, Shard shard,
                          const std::function<void(const SampledReader&)>& each);

// Users of a shard who follow more than `above` authors, by their counters.
Status ScanFollowingMany(ShardConnections& connections, Shard shard, uint64_t above,
                         const std::function<void(UserId user, uint64_t follows)>& each);

}  // namespace fanline::mysql
