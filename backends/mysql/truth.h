// The truth a pusher reads (port fanline/truth.h), from the MariaDB primaries.
//
// A few threads per shard; a thread takes what is queued for its shard and reads it together:
// states of the posts of many requests in one statement, first pages of many authors in another.
// All reads of a request happen after Submit, each in a transaction of its own (autocommit).
// A shard that is away answers its own requests `later`, naming "mysql_<shard>", at once.
#pragma once

#include <functional>
#include <memory>

#include "backends/mysql/config.h"
#include "fanline/bucket.h"
#include "fanline/log_sink.h"
#include "fanline/truth.h"

namespace fanline::mysql {

struct TruthLimits {
  size_t threads_per_shard = 2;
  size_t requests_per_batch = 256;
  size_t queued_per_shard = 65'536;
};

class MysqlTruth : public Truth {
 public:
  // `reply` is called from an adapter's thread, or from within Submit when the shard is away or its
  // queue is full. `health` may be empty; it and `log` must not call Submit. All three until the
  // destructor returns; requests still unanswered then are dropped.
  MysqlTruth(const Config& config, const ShardMap& map, const RangeLayout& layout,
             std::function<void(TruthReply)> reply, HealthSink health, LogSink log,
             TruthLimits limits = {});
  ~MysqlTruth() override;

  void Submit(TruthRequest request) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fanline::mysql
