// Table range_owner (port fanline/range_owners.h), on the shard of each range's first bucket.
//
// One thread per shard; a request is one transaction under the row's lock. An answer lost with its
// connection is `later` although the row may have changed; repeating the request is safe: epochs
// only grow, and a start counted twice makes a crash be suspected one start too early.
#pragma once

#include <functional>
#include <memory>

#include "backends/mysql/config.h"
#include "fanline/bucket.h"
#include "fanline/log_sink.h"
#include "fanline/range_owners.h"

namespace fanline::mysql {

class MysqlRangeOwners : public RangeOwners {
 public:
  // The callbacks: as for MysqlTruth.
  MysqlRangeOwners(const Config& config, const ShardMap& map, const RangeLayout& layout,
                   std::function<void(RangeOwned)> reply, HealthSink health, LogSink log);
  ~MysqlRangeOwners() override;

  void Submit(OwnerRequest request) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fanline::mysql
