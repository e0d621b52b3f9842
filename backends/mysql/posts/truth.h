// The truth that a pusher reads (fanline/ports/truth.h), from the MariaDB primaries.
//
// A few threads per shard (shard_port.h). A thread takes the queued requests of its shard and reads
// for them together: one statement for the states of posts of many requests, another for the first
// pages of many authors. All reads of a request happen after Submit, each in a transaction of its
// own (autocommit). The requests are answered only if the server is still the primary after the
// last read for any of them.
#pragma once

#include <vector>

#include "backends/mysql/sql/shard_port.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/truth.h"

namespace fanline::mysql {

struct TruthService {
  static constexpr const char* kName = "truth";
  static constexpr PoolLimits kLimits{.threads_per_shard = 2, .batch = 512};
  static constexpr bool kReadsTruth = true;

  std::vector<PostStates> DoAll(Connection& connection,
                                const std::vector<ReadPostStates>& requests);
  std::vector<FollowerPage> DoAll(Connection& connection,
                                  const std::vector<ReadFollowerPage>& requests);
  std::vector<SyncTruth> DoAll(Connection& connection, const std::vector<ReadSync>& requests);
  MutesRead Do(Connection& connection, const ReadMutes& request);
  Shard ShardOf(const ReadMutes& request) const { return request.shard; }
  Shard ShardOf(const ReadPostStates& request) const {
    return map.ShardOf(request.posts.at(0).first);
  }
  template <class R>
  Shard ShardOf(const R& request) const {
    return map.ShardOf(request.author);
  }

  ShardMap map;
  RangeLayout layout;
};
using MysqlTruth = ShardPort<TruthService, ReadPostStates, ReadFollowerPage, ReadSync, ReadMutes>;

}  // namespace fanline::mysql
