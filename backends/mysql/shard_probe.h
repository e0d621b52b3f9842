// The port ShardProbe: a connection per shard with a thread of its own, so that a shard that hangs
// keeps nobody else from being asked. Callbacks as for MysqlTruth.
#pragma once

#include <functional>
#include <memory>

#include "backends/mysql/config.h"
#include "fanline/log_sink.h"
#include "fanline/shard_probe.h"

namespace fanline::mysql {

class MysqlShardProbe final : public ShardProbe {
 public:
  MysqlShardProbe(const Config& config, std::function<void(ShardPinged)> reply, LogSink log,
                  HealthSink health = {});
  ~MysqlShardProbe() override;

  void Submit(PingShard request) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fanline::mysql
