#include "tests/unit/reconciler/repair_world.h"

namespace fanline::reconciler {
namespace {

EdgeState Of(const std::map<EdgeKey, EdgeState>& rows, const EdgeKey& edge) {
  const auto found = rows.find(edge);
  return found == rows.end() ? EdgeState{} : found->second;
}

}  // namespace

void RepairWorld::Answer() {
  const auto first = std::move(requests.front());
  requests.pop_front();
  const auto* ask = first.As<AskPending>();
  if (ask != nullptr && hangs.contains("log1_" + std::to_string(ask->shard))) return;
  std::visit([this](const auto& each) { each.to(Reply(each.request)); }, first.asked);
}

Status RepairWorld::Do(const std::string& what) {
  if (away.contains(what)) return Status::Later(what, "away");
  if (refused.contains(what)) return Status::Never("refused");
  done.push_back(what);
  return {};
}

PendingAsked RepairWorld::Reply(const AskPending& request) {
  asked.push_back(request);
  const std::string name = "log1_" + std::to_string(request.shard);
  if (away.contains(name)) return {request.id, Status::Later(name, "away"), {}};
  PendingAsked reply{request.id, {}, {}};
  for (const uint64_t id : request.log_ids) {
    if (const auto row = log1.find(id); row != log1.end()) reply.pending.push_back(row->second);
  }
  return reply;
}

PendingRead RepairWorld::Reply(const ReadPending& request) {
  const std::string name = "log1_" + std::to_string(request.shard);
  if (away.contains(name)) return {request.id, Status::Later(name, "away"), {}};
  PendingRead reply{request.id, {}, {}, newest_log_id};
  if (!log1.empty()) reply.changes.push_back(log1.begin()->second);
  return reply;
}

EdgesRead RepairWorld::Reply(const ReadEdges& request) {
  read.push_back(request.edges.size());
  if (away.contains("store")) return {request.id, Status::Later("mysql_0", "away"), {}};
  EdgesRead reply{request.id, {}, {}, horizon};
  for (const EdgeKey& edge : request.edges) {
    reply.rows.push_back({Of(reverse, edge), Of(forward, edge)});
  }
  return reply;
}

EdgesApplied RepairWorld::Reply(const ApplyEdges& request) {
  EdgesApplied reply{.id = request.id, .status = Do("apply")};
  if (!reply.status.done()) return reply;
  for (const Edge& edge : request.edges) {
    const bool wins = Wins(edge.state(), Of(reverse, edge.key()));
    if (wins) reverse[edge.key()] = edge.state();
    reply.applied.push_back({Of(reverse, edge.key()).ver, wins});
  }
  return reply;
}

EdgeAdopted RepairWorld::Reply(const AdoptEdge& request) {
  EdgeAdopted reply{request.id, Do("adopt"), false, {}};
  if (!reply.status.done()) return reply;
  reply.adopted = Wins(request.edge.state(), Of(forward, request.edge.key()));
  if (reply.adopted) forward[request.edge.key()] = request.edge.state();
  reply.edge = EdgeOf(request.edge.key(), Of(forward, request.edge.key()));
  return reply;
}

RepairLogged RepairWorld::Reply(const LogRepair& request) {
  RepairLogged reply{request.id, Do("log")};
  if (reply.status.done()) repairs.push_back(request);
  return reply;
}

RemovalsTaken RepairWorld::Reply(const TakeRemovals& request) {
  if (away.contains("removals")) {
    return RemovalsTaken{request.id, Status::Later("mysql_0", "away"), 0};
  }
  return RemovalsTaken{request.id, {}, Take(allowances[request.shard], request, server_clock)};
}

ReconcilerModeRead RepairWorld::Reply(const ReadReconcilerMode& request) {
  return ReconcilerModeRead{request.id, {}, mode, closings};
}

RetriesAppended RepairWorld::Reply(const AppendRetries& request) {
  RetriesAppended reply{request.id, Do("retries")};
  if (reply.status.done()) {
    retries.insert(retries.end(), request.retries.begin(), request.retries.end());
  }
  return reply;
}

DeadLetterAppended RepairWorld::Reply(const AppendDeadLetter& request) {
  letters.push_back(request.letter);
  return DeadLetterAppended{request.id, {}};
}

GroupOffsetsRead RepairWorld::Reply(const ReadGroupOffsets& request) {
  GroupOffsetsRead reply{request.id, {}, {}};
  for (const int32_t partition : request.partitions) {
    reply.committed.push_back({partition, committed[partition]});
  }
  return reply;
}

}  // namespace fanline::reconciler
