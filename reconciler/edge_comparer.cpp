#include "reconciler/edge_comparer.h"

#include <algorithm>
#include <set>
#include <utility>

#include "fanline/consuming/answered.h"

namespace fanline::reconciler {

EdgeComparer::EdgeComparer(Net net, const Ports& ports, const Checker::Setup& setup,
                           const Limits& limits, RepairGate& gate)
    : net_(net),
      ports_(ports),
      setup_(setup),
      limits_(limits),
      gate_(gate),
      random_(setup.seed),
      asks_(setup.shards.forward.shards()),
      reads_(setup.shards.pairs()),
      held_(setup.shards.forward.shards()),
      throttles_(setup.shards.reverse.shards(),
                 Throttle(limits.edges_per_second, limits.edges_per_second)),
      append_again_(limits.again) {}

void EdgeComparer::Compare(const CompareOrder& order) {
  ++open_;
  const bool ask = setup_.ours && order.claim.log_id != 0;
  (ask ? asks_[ForwardOf(order.edge)] : QueueOf(order.edge)).waiting.push_back({order});
}

void EdgeComparer::HandOver(const CompareOrder& order, Now now) {
  ++open_;
  SendRetry({order}, {}, now);
}

std::vector<uint64_t> EdgeComparer::TakeFinished() { return std::exchange(finished_, {}); }

std::vector<Looked> EdgeComparer::TakeLooked() { return std::exchange(looked_, {}); }

std::optional<Time> EdgeComparer::Send(Now now) {
  std::optional<Time> next;
  if (taking_) {
    while (auto item = append_again_.Take(now.mono)) SendRetry(std::move(*item), {}, now);
    next = append_again_.timer();
  }
  if (taking_ && !paused()) {
    for (Shard shard = 0; shard < asks_.size(); ++shard) {
      next = Earlier(next, SendAsk(shard, now));
      next = Earlier(next, LookAtHeld(shard, now));
    }
    for (size_t i = 0; i < reads_.size(); ++i) next = Earlier(next, SendRead(i, now));
  }
  return next;
}

template <class Map, class What>
uint64_t EdgeComparer::Asked(Map& map, What what) {
  ++under_way_;
  map.emplace(++ids_, std::move(what));
  return ids_;
}

// ---- rows of log1 ---------------------------------------------------------------------------

std::optional<Time> EdgeComparer::SendAsk(Shard shard, Now now) {
  Queue& queue = asks_[shard];
  if (queue.waiting.empty() || !queue.asking.empty()) return std::nullopt;
  if (queue.retry_at > now.mono) return queue.retry_at;
  AskPending request{Asked(asked_, shard), shard, {}};
  while (!queue.waiting.empty() && request.log_ids.size() < setup_.rows_per_ask) {
    request.log_ids.push_back(queue.waiting.front().order.claim.log_id);
    queue.asking.push_back(std::move(queue.waiting.front()));
    queue.waiting.pop_front();
  }
  ports_.log.Submit(std::move(request));
  return std::nullopt;  // the reply comes first
}

void EdgeComparer::Take(const PendingAsked& asked, Now now) {
  --under_way_;
  Queue& queue = asks_[TakeAnswered(asked_, asked.id)];
  if (!asked.status.done()) return FailAll(queue, asked.status, now);
  queue.attempts = 0;
  std::set<LogRow> pending;
  for (const LoggedChange& change : asked.pending) pending.insert(change.row());
  for (Item& item : std::exchange(queue.asking, {})) {
    item.pending = pending.contains(RowOf(item.order.edge, item.order.claim));
    if (item.pending) {
      Hold(std::move(item), now);
    } else {
      QueueOf(item.order.edge).waiting.push_back(std::move(item));
    }
  }
}

// ---- rows of edges --------------------------------------------------------------------------

std::optional<Time> EdgeComparer::SendRead(size_t index, Now now) {
  Queue& queue = reads_[index];
  if (queue.waiting.empty() || !queue.asking.empty()) return std::nullopt;
  if (queue.retry_at > now.mono) return queue.retry_at;
  Throttle& throttle = throttles_[setup_.shards.ReverseOf(index)];
  ReadEdges request;
  while (!queue.waiting.empty() && request.edges.size() < limits_.edges_per_read &&
         throttle.Take(now.mono)) {
    request.edges.push_back(queue.waiting.front().order.edge);
    queue.asking.push_back(std::move(queue.waiting.front()));
    queue.waiting.pop_front();
  }
  if (request.edges.empty()) return throttle.Next(now.mono);
  request.id = Asked(reading_, index);
  ports_.store.Submit(std::move(request));
  return std::nullopt;  // the reply comes first
}

void EdgeComparer::Take(const EdgesRead& read, Now now) {
  --under_way_;
  Queue& queue = reads_[TakeAnswered(reading_, read.id)];
  if (!read.status.done()) return FailAll(queue, read.status, now);
  queue.attempts = 0;
  Items items = std::exchange(queue.asking, {});
  for (size_t i = 0; i < items.size(); ++i) {
    Judged(std::move(items[i]), read.rows[i], read.horizon, now);
  }
}

void EdgeComparer::Judged(Item item, const RowsOfEdge& rows, UnixMs horizon, Now now) {
  const EdgeClaim claim = Believed(item.order.claim, horizon);
  const Finding finding = Judge(rows.reverse, rows.forward, claim).finding;
  if (finding == Finding::kEqual) return Finish(item);
  const bool changed = !item.again || item.forward != rows.forward.ver;
  item.again = true;
  item.forward = rows.forward.ver;
  item.newer = rows.forward.ver > std::max(rows.reverse.ver, claim.state.ver);
  if (!changed || !setup_.guards.differences_held) {
    if (item.order.only_look) return Finish(item, Looked::What::kDiffers);
    ports_.metrics.Differs(item.order.edge, finding);
    return SendRetry(std::move(item), {}, now);
  }
  item.newest.reset();
  Hold(std::move(item), now);
}

// ---- held -----------------------------------------------------------------------------------

void EdgeComparer::Hold(Item item, Now now) {
  held_[ForwardOf(item.order.edge)].items.emplace_back(now.mono + limits_.grace, std::move(item));
}

std::optional<Time> EdgeComparer::LookAtHeld(Shard shard, Now now) {
  Held& held = held_[shard];
  if (held.asking || held.items.empty()) return std::nullopt;
  if (held.items.front().first > now.mono) return held.items.front().first;
  const bool ask = std::any_of(held.items.begin(), held.items.end(), [&](const auto& each) {
    return each.second.newer && each.first <= now.mono;
  });
  if (ask && setup_.ours && setup_.guards.lag_awaited) {
    held.asking = true;
    ports_.log.Submit(ReadPending{Asked(looks_, shard), shard, 0, 1});
    return std::nullopt;  // the reply comes first
  }
  Release(held, now, [](const Item&) { return true; });
  return held.items.empty() ? std::nullopt : std::optional(held.items.front().first);
}

// The first answer after the read names the newest row: the edge's own cannot be above it. It has
// been carried once no row up to there is pending.
void EdgeComparer::Take(const PendingRead& read, Now now) {
  --under_way_;
  Held& held = held_[TakeAnswered(looks_, read.id)];
  held.asking = false;
  const bool known = read.status.done();
  if (!known) ports_.metrics.Parked(read.status.resource);
  Release(held, now, [&](Item& item) {
    if (!item.newer) return true;
    if (known && !item.newest) item.newest = read.newest;
    return known && (read.changes.empty() || read.changes.front().id > *item.newest);
  });
}

// Those whose time has come are asked about or read again, if they may, and held again if not.
template <class May>
void EdgeComparer::Release(Held& held, Now now, May may) {
  Items again;
  while (!held.items.empty() && held.items.front().first <= now.mono) {
    Item item = std::move(held.items.front().second);
    held.items.pop_front();
    if (may(item)) {
      Queue& queue = item.pending ? asks_[ForwardOf(item.order.edge)] : QueueOf(item.order.edge);
      queue.waiting.push_back(std::move(item));
    } else {
      again.push_back(std::move(item));
    }
  }
  for (Item& item : again) Hold(std::move(item), now);
}

// ---- the end of an edge -----------------------------------------------------------------------

void EdgeComparer::FailAll(Queue& queue, const Status& status, Now now) {
  if (status.later()) ports_.metrics.Parked(status.resource);
  queue.retry_at = now.mono + limits_.again.Delay(++queue.attempts, random_());
  Items failed = std::exchange(queue.asking, {});
  std::move(queue.waiting.begin(), queue.waiting.end(), std::back_inserter(failed));
  queue.waiting.clear();
  for (Item& item : failed) {
    if (item.order.only_look) {
      Finish(item, Looked::What::kUnknown);
      continue;
    }
    ports_.metrics.SentToRetry(RetryCause::kChecksFailed);
    SendRetry(std::move(item), limits_.patience.Delay(1, random_()), now);
  }
}

// While it is stopping, what is not finished is compared again after the next start.
void EdgeComparer::SendRetry(Item item, Duration wait, Now now) {
  if (!taking_) return;
  const CompareOrder& order = item.order;
  const UnixMs due = now.unix_ms + Milliseconds(wait);
  const RelationRetry retry{order.edge, order.claim, due, 0, 0, net_};
  ports_.retries.Submit({Asked(retries_, std::move(item)), {retry}});
}

void EdgeComparer::Take(const RetriesAppended& appended, Now now) {
  --under_way_;
  Item item = TakeAnswered(retries_, appended.id);
  if (appended.status.done()) return Finish(item);
  ports_.metrics.Parked(appended.status.later() ? appended.status.resource : "kafka");
  const uint32_t attempt = ++item.failures;
  append_again_.Add(std::move(item), attempt, now.mono, random_());
}

void EdgeComparer::Finish(const Item& item, Looked::What what) {
  --open_;
  item.order.only_look ? looked_.push_back({item.order.ticket, what})
                       : finished_.push_back(item.order.ticket);
}

}  // namespace fanline::reconciler
