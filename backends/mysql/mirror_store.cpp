#include "backends/mysql/mirror_store.h"

#include <utility>
#include <variant>
#include <vector>

#include "backends/mysql/change_log.h"
#include "backends/mysql/chunks.h"
#include "backends/mysql/forward_edges.h"
#include "backends/mysql/reverse_edges.h"
#include "backends/mysql/settings.h"
#include "backends/mysql/shard_pool.h"

namespace fanline::mysql {
namespace {

// The log's requests and the mode's share threads: all are small.
using SmallRequest = std::variant<ReadPending, MarkDone, PurgeDone, ReadMirrorMode>;
using SmallReply = std::variant<PendingRead, MarkedDone, PurgedDone, MirrorModeRead>;

std::vector<EdgesApplied> ApplyAll(Connection& connection, const std::vector<ApplyEdges>& batch) {
  std::vector<Edge> edges;
  for (const ApplyEdges& request : batch) {
    edges.insert(edges.end(), request.edges.begin(), request.edges.end());
  }
  const ReverseResult result = ApplyReverse(connection, edges);
  std::vector<EdgesApplied> replies;
  size_t next = 0;
  for (const ApplyEdges& request : batch) {
    EdgesApplied& reply = replies.emplace_back();
    reply.id = request.id;
    for (size_t i = 0; i < request.edges.size(); ++i, ++next) {
      reply.applied.push_back({result.applied[next].ver, result.applied[next].written});
    }
  }
  replies.front().below_zero = result.below_zero.size();  // told once
  return replies;
}

EdgeChanged ChangeOne(Connection& connection, const ChangeEdge& request, uint32_t most_followed) {
  EdgeChanged reply;
  reply.id = request.id;
  reply.status = CheckEdgeIds(request.change.src, request.change.dst);
  if (!reply.status.done()) return reply;
  reply.forward = ChangeForward(connection, request.change, most_followed);
  reply.status = StatusOf(reply.forward, most_followed);
  return reply;
}

// Marks of the whole batch are one statement; the rest is served one by one.
class SmallBatch {
 public:
  explicit SmallBatch(Connection& connection) : connection_(connection) {}

  std::vector<SmallReply> Serve(const std::vector<SmallRequest>& batch) {
    std::vector<LogRow> rows;
    for (const SmallRequest& request : batch) {
      const auto* mark = std::get_if<MarkDone>(&request);
      if (mark != nullptr) rows.insert(rows.end(), mark->rows.begin(), mark->rows.end());
    }
    SortUnique(rows);
    MarkChangesDone(connection_, rows);
    std::vector<SmallReply> replies;
    for (const SmallRequest& request : batch) {
      replies.push_back(std::visit([&](const auto& each) { return Do(each); }, request));
    }
    return replies;
  }

 private:
  SmallReply Do(const ReadPending& request) {
    return PendingRead{request.id, {}, PendingChanges(connection_, request.after, request.limit)};
  }
  SmallReply Do(const MarkDone& request) { return MarkedDone{request.id, {}}; }
  SmallReply Do(const PurgeDone& request) {
    return PurgedDone{request.id, {}, PurgeChanges(connection_, request.keep, request.most)};
  }
  SmallReply Do(const ReadMirrorMode& request) {
    return MirrorModeRead{request.id, {}, GetMirrorMode(connection_)};
  }

  Connection& connection_;
};

template <class Reply, class Request>
Reply Failed(const Request& request, Status status) {
  Reply reply;
  reply.id = request.id;
  reply.status = std::move(status);
  return reply;
}

SmallReply SmallFailed(const SmallRequest& request, Status status) {
  if (const auto* read = std::get_if<ReadPending>(&request)) {
    return Failed<PendingRead>(*read, std::move(status));
  }
  if (const auto* mark = std::get_if<MarkDone>(&request)) {
    return Failed<MarkedDone>(*mark, std::move(status));
  }
  if (const auto* purge = std::get_if<PurgeDone>(&request)) {
    return Failed<PurgedDone>(*purge, std::move(status));
  }
  return Failed<MirrorModeRead>(std::get<ReadMirrorMode>(request), std::move(status));
}

// Of the log's requests and replies those of all small ones are made, and back.
SmallRequest Widen(ChangeRequest request) {
  return std::visit([](auto& each) { return SmallRequest(std::move(each)); }, request);
}

}  // namespace

class MysqlMirrorStore::Impl {
 public:
  Impl(const Config& config, const ShardMap& map, Replies replies, const HealthSink& health,
       const LogSink& log, const MirrorStoreLimits& limits)
      : map_(map),
        replies_(std::move(replies)),
        reverse_(config, "reverse edges",
                 {limits.reverse_threads, limits.requests_per_batch, limits.queued_per_shard},
                 {.serve = ApplyAll,
                  .fail = Failed<EdgesApplied, ApplyEdges>,
                  .reply = replies_.applied,
                  .health = health,
                  .log = log}),
        forward_(config, "forward edges", {limits.forward_threads, 1, limits.queued_per_shard},
                 {.serve =
                      [most = limits.most_followed](Connection& connection,
                                                    const std::vector<ChangeEdge>& batch) {
                        return std::vector{ChangeOne(connection, batch.front(), most)};
                      },
                  .fail = Failed<EdgeChanged, ChangeEdge>,
                  .reply = replies_.changed,
                  .health = health,
                  .log = log}),
        small_(config, "log1",
               {limits.log_threads, limits.requests_per_batch, limits.queued_per_shard},
               {.serve =
                    [](Connection& connection, const std::vector<SmallRequest>& batch) {
                      return SmallBatch(connection).Serve(batch);
                    },
                .fail = SmallFailed,
                .reply = [this](SmallReply reply) { Answer(std::move(reply)); },
                .health = health,
                .log = log}) {}

  void Submit(ApplyEdges request) {
    const Shard shard = request.shard;
    reverse_.Submit(shard, std::move(request));
  }
  void Submit(ChangeEdge request) {
    const Shard shard = map_.ShardOf(request.change.src);
    forward_.Submit(shard, std::move(request));
  }
  void Submit(ChangeRequest request) {
    const Shard shard = std::visit([](const auto& each) { return each.shard; }, request);
    small_.Submit(shard, Widen(std::move(request)));
  }
  void Submit(ReadMirrorMode request) { small_.Submit(kSettingsShard, request); }

 private:
  void Answer(SmallReply reply) {
    if (auto* mode = std::get_if<MirrorModeRead>(&reply)) {
      if (replies_.mode) replies_.mode(std::move(*mode));
    } else if (auto* read = std::get_if<PendingRead>(&reply)) {
      replies_.log(std::move(*read));
    } else if (auto* marked = std::get_if<MarkedDone>(&reply)) {
      replies_.log(std::move(*marked));
    } else {
      replies_.log(std::move(std::get<PurgedDone>(reply)));
    }
  }

  const ShardMap map_;
  const Replies replies_;
  ShardPool<ApplyEdges, EdgesApplied> reverse_;  // the pools last: their threads use the others
  ShardPool<ChangeEdge, EdgeChanged> forward_;
  ShardPool<SmallRequest, SmallReply> small_;
};

MysqlMirrorStore::MysqlMirrorStore(const Config& config, const ShardMap& map, Replies replies,
                                   HealthSink health, LogSink log, MirrorStoreLimits limits)
    : impl_(std::make_unique<Impl>(config, map, std::move(replies), health, log, limits)) {}

MysqlMirrorStore::~MysqlMirrorStore() = default;

void MysqlMirrorStore::Submit(ApplyEdges request) { impl_->Submit(std::move(request)); }
void MysqlMirrorStore::Submit(ChangeEdge request) { impl_->Submit(request); }
void MysqlMirrorStore::Submit(ChangeRequest request) { impl_->Submit(std::move(request)); }
void MysqlMirrorStore::Submit(ReadMirrorMode request) { impl_->Submit(request); }

}  // namespace fanline::mysql
