#include "backends/mysql/edges/mirror_store.h"

#include "backends/mysql/edges/change_log.h"
#include "backends/mysql/edges/forward_edges.h"
#include "backends/mysql/edges/log_scan.h"
#include "backends/mysql/edges/reverse_edges.h"
#include "backends/mysql/edges/tombstones.h"
#include "backends/mysql/sql/chunks.h"

namespace fanline::mysql {

std::vector<EdgesApplied> ReverseService::DoAll(Connection& connection,
                                                const std::vector<ApplyEdges>& requests) {
  std::vector<Edge> edges;
  for (const ApplyEdges& request : requests) {
    edges.insert(edges.end(), request.edges.begin(), request.edges.end());
  }
  const ReverseResult result = ApplyReverse(connection, edges);
  std::vector<EdgesApplied> replies;
  auto next = result.applied.begin();
  for (const ApplyEdges& request : requests) {
    const auto end = next + static_cast<ptrdiff_t>(request.edges.size());
    replies.emplace_back().applied.assign(next, end);
    next = end;
  }
  replies.front().below_zero = result.below_zero.size();  // reported once
  return replies;
}

EdgeChanged ForwardService::Do(Connection& connection, const ChangeEdge& request) const {
  EdgeChanged reply;
  reply.status = CheckEdgeIds(request.change.src, request.change.dst);
  if (!reply.status.done()) return reply;
  if (request.change.since > 0) {
    reply.status = StatusOfAge(request.change.since, ReadHorizon(connection));
    if (!reply.status.done()) return reply;
  }
  reply.forward = ChangeForward(connection, request.change, most_followed);
  reply.status = StatusOf(reply.forward, most_followed);
  return reply;
}

std::vector<MarkedDone> ChangeLogService::DoAll(Connection& connection,
                                                const std::vector<MarkDone>& requests) {
  std::vector<LogRow> rows;
  for (const MarkDone& request : requests) {
    rows.insert(rows.end(), request.rows.begin(), request.rows.end());
  }
  SortUnique(rows);
  MarkChangesDone(connection, rows);
  return std::vector<MarkedDone>(requests.size());
}

PendingRead ChangeLogService::Do(Connection& connection, const ReadPending& request) {
  PendingRead reply;
  if (request.after == 0) {
    reply.newest = connection.Number("SELECT COALESCE(MAX(id), 0) FROM log1");
  }
  reply.changes = PendingChanges(connection, request.after, request.limit);
  return reply;
}

// Who asks acts on the answer: a server that was demoted meanwhile may not give it.
PendingAsked ChangeLogService::Do(Connection& connection, const AskPending& request) {
  PendingAsked reply{.status = {}, .pending = PendingAmong(connection, request.log_ids)};
  connection.RequirePrimary();
  return reply;
}

PurgedDone ChangeLogService::Do(Connection& connection, const PurgeDone& request) {
  return {.status = {}, .deleted = PurgeChanges(connection, request.keep, request.most)};
}

LoggedRead ChangeLogService::Do(Connection& connection, const ReadLogged& request) {
  LoggedRead reply = ReadBehindPlace(connection, request);
  connection.RequirePrimary();
  return reply;
}

LogScanMoved ChangeLogService::Do(Connection& connection, const MoveLogScan& request) {
  MovePlace(connection, request);
  return {};
}

FriendVersionsRead ChangeLogService::Do(Connection& connection, const ReadFriendVersions& request) {
  FriendVersionsRead reply{.status = {}, .versions = FriendVersions(connection, request.edges)};
  connection.RequirePrimary();
  return reply;
}

LoggedAgain ChangeLogService::Do(Connection& connection, const LogAgain& request) {
  WriteAgain(connection, request.change);
  return {};
}

ReconcilerModeRead ChangeLogService::Do(Connection& connection, const ReadReconcilerMode&) {
  return {.status = {},
          .mode = GetReconcilerMode(connection),
          .closings = GetBreakerClosings(connection)};
}

MirrorModeRead ChangeLogService::Do(Connection& connection, const ReadMirrorMode&) {
  return {.status = {}, .mode = GetMirrorMode(connection)};
}

}  // namespace fanline::mysql
