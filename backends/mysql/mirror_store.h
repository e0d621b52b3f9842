// What a mirror asks of the shards (ports fanline/reverse_edges.h, forward_edges.h, change_log.h
// and mirror_mode.h), on threads of its own: some per shard and port, so that a slow port does not
// hold up another. Reverse edges that are queued for a shard are written in one transaction, rows
// of log1 marked done in one statement. Threads, back-off and callbacks: as for MysqlTruth.
#pragma once

#include <functional>
#include <memory>

#include "backends/mysql/config.h"
#include "fanline/bucket.h"
#include "fanline/change_log.h"
#include "fanline/forward_edges.h"
#include "fanline/log_sink.h"
#include "fanline/mirror_mode.h"
#include "fanline/reverse_edges.h"

namespace fanline::mysql {

struct MirrorStoreLimits {
  size_t reverse_threads = 2;  // per shard, each
  size_t forward_threads = 4;
  size_t log_threads = 2;
  size_t requests_per_batch = 8;
  size_t queued_per_shard = 65'536;  // requests, of each port
  uint32_t most_followed = kMostFollowed;
};

class MysqlMirrorStore final : public ReverseStore,
                               public ForwardStore,
                               public ChangeStore,
                               public MirrorModes {
 public:
  struct Replies {
    std::function<void(EdgesApplied)> applied;
    std::function<void(EdgeChanged)> changed;
    std::function<void(ChangeReply)> log;
    std::function<void(MirrorModeRead)> mode;
  };

  MysqlMirrorStore(const Config& config, const ShardMap& map, Replies replies, HealthSink health,
                   LogSink log, MirrorStoreLimits limits = {});
  ~MysqlMirrorStore() override;

  void Submit(ApplyEdges request) override;
  void Submit(ChangeEdge request) override;
  void Submit(ChangeRequest request) override;
  void Submit(ReadMirrorMode request) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fanline::mysql
