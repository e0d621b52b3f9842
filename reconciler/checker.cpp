#include "reconciler/checker.h"

#include <algorithm>
#include <set>
#include <utility>

#include "fanline/base/check.h"
#include "fanline/consuming/answered.h"

namespace fanline::reconciler {
namespace {

using Action = Verdict::Action;

// For a row of repair_log: "follows@1700000000000000", "follows no_reposts@1700000000000000",
// "none".
std::string Text(const EdgeState& state) {
  if (state.ver == 0) return "none";
  std::string text = state.live ? "follows" : "ended";
  if (state.delivery != Delivery::kAll) text += std::string(" ") + NameOf(state.delivery);
  return text + "@" + std::to_string(state.ver);
}

// Of rows that are corrupt alone, a delivery may be the reason.
std::string WhyHopeless(const Verdict& verdict, const RowsOfEdge& rows, const EdgeClaim& claim) {
  const std::pair<const char*, EdgeState> said[] = {
      {"forward row", rows.forward}, {"reverse row", rows.reverse}, {"message", claim.state}};
  for (const auto& [name, state] : said) {
    if (IsKnown(state.delivery) || verdict.finding != Finding::kCorrupt) continue;
    return std::string("the delivery of the ") + name + (state.live ? " (live)" : " (ended)") +
           " is " + std::to_string(static_cast<int>(state.delivery)) + ", and there are 0, 1 and 2";
  }
  return std::string("rows are ") + NameOf(verdict.finding) +
         (verdict.finding == Finding::kLost ? ", and no message says what they were"
                                            : ", and no version is left above them");
}

// How long ago the change was made, judged by its version: microseconds of a clock.
Duration AgeOf(const EdgeState& state, Now now) {
  const auto made = static_cast<UnixMs>(state.ver / 1'000);
  return std::chrono::milliseconds(std::max<UnixMs>(0, now.unix_ms - made));
}

}  // namespace

Checker::Checker(Ports ports, Setup setup, RepairGate& gate)
    : ports_(ports),
      setup_(std::move(setup)),
      gate_(gate),
      random_(setup_.seed),
      asks_(setup_.shards.forward.shards()),
      queues_(setup_.shards.pairs()) {
  FANLINE_CHECK(gate.shards() == setup_.shards.reverse.shards(), "a gate of these shards");
}

void Checker::Order(const CheckOrder& order) {
  if (gate_.mode() == ReconcilerMode::kPause) return End(order, false);
  const bool ask = setup_.ours && order.claim.log_id != 0;
  Queue& queue = ask ? asks_[setup_.shards.forward.ShardOf(order.edge.src)] : QueueOf(order.edge);
  queue.waiting.push_back(order);
  ++waiting_;
}

std::vector<CheckResult> Checker::TakeResults() { return std::exchange(results_, {}); }

void Checker::Drop() {
  for (Queue& queue : asks_) EndWaiting(queue);
  for (Queue& queue : queues_) EndWaiting(queue);
}

void Checker::EndWaiting(Queue& queue) {
  for (const CheckOrder& order : queue.waiting) End(order, false);
  waiting_ -= queue.waiting.size();
  queue.waiting.clear();
}

std::optional<Time> Checker::Send(Now now) {
  if (gate_.mode() == ReconcilerMode::kPause) Drop();
  SendRemovals();
  std::optional<Time> next;
  for (Shard shard = 0; shard < asks_.size(); ++shard) next = Earlier(next, SendAsk(shard, now));
  for (size_t i = 0; i < queues_.size(); ++i) next = Earlier(next, SendRead(i, now));
  return next;
}

// ---- rows of log1 ---------------------------------------------------------------------------

std::optional<Time> Checker::SendAsk(Shard shard, Now now) {
  Queue& queue = asks_[shard];
  if (queue.waiting.empty() || !queue.reading.empty()) return std::nullopt;
  if (queue.retry_at > now.mono) return queue.retry_at;
  AskPending request{++ids_, shard, {}};
  while (!queue.waiting.empty() && request.log_ids.size() < setup_.rows_per_ask) {
    request.log_ids.push_back(queue.waiting.front().claim.log_id);
    queue.reading.push_back(queue.waiting.front());
    queue.waiting.pop_front();
  }
  asked_.emplace(request.id, shard);
  ports_.log.Submit(std::move(request));
  return std::nullopt;  // the reply comes first
}

// Whole rows are compared, since a shard that lost its tail gives ids out again. A pending row is
// the mirror's. It may have been carried, and then lost, before it is marked.
void Checker::On(const PendingAsked& asked, Now now) {
  Queue& queue = asks_[TakeAnswered(asked_, asked.id)];
  const std::vector<CheckOrder> orders = std::exchange(queue.reading, {});
  waiting_ -= orders.size();
  if (!asked.status.done()) {
    for (const CheckOrder& order : orders) End(order, false);
    return FailAll(queue, asked.status, now);
  }
  queue.attempts = 0;
  std::set<LogRow> pending;
  for (const LoggedChange& change : asked.pending) pending.insert(change.row());
  for (const CheckOrder& order : orders) {
    if (setup_.guards.pending_is_not_lost && pending.contains(RowOf(order.edge, order.claim))) {
      ports_.metrics.LeftToMirror();
      End(order, !order.until_marked);
    } else {
      QueueOf(order.edge).waiting.push_back(order);
      ++waiting_;
    }
  }
}

// ---- rows of edges --------------------------------------------------------------------------

std::optional<Time> Checker::SendRead(size_t index, Now now) {
  Queue& queue = queues_[index];
  if (queue.waiting.empty() || !queue.reading.empty()) return std::nullopt;
  if (queue.retry_at > now.mono) return queue.retry_at;
  Throttle& throttle = gate_.throttle(setup_.shards.ReverseOf(index));
  ReadEdges request{++ids_, {}};
  while (!queue.waiting.empty() && request.edges.size() < setup_.batch && throttle.Take(now.mono)) {
    request.edges.push_back(queue.waiting.front().edge);
    queue.reading.push_back(queue.waiting.front());
    queue.waiting.pop_front();
  }
  if (queue.throttled_since && !request.edges.empty()) {
    ports_.metrics.Throttled(now.mono - *queue.throttled_since);
    queue.throttled_since.reset();
  }
  if (request.edges.empty()) {
    if (!queue.throttled_since) queue.throttled_since = now.mono;
    return throttle.Next(now.mono);
  }
  reads_.emplace(request.id, index);
  ports_.store.Submit(std::move(request));
  return std::nullopt;  // the reply comes first
}

void Checker::On(const EdgesRead& read, Now now) {
  Queue& queue = queues_[TakeAnswered(reads_, read.id)];
  const std::vector<CheckOrder> orders = std::exchange(queue.reading, {});
  waiting_ -= orders.size();
  if (!read.status.done()) {
    for (const CheckOrder& order : orders) Fail(order, read.status);
    if (read.status.later()) return FailAll(queue, read.status, now);
  }
  queue.attempts = 0;
  for (size_t i = 0; i < read.rows.size(); ++i) Decide(orders[i], read.rows[i], read.horizon, now);
}

void Checker::FailAll(Queue& queue, const Status& status, Now now) {
  ports_.metrics.Parked(status.resource);
  EndWaiting(queue);
  queue.retry_at = now.mono + setup_.backoff.Delay(++queue.attempts, random_());
}

// ---- verdicts -------------------------------------------------------------------------------

void Checker::Decide(const CheckOrder& order, const RowsOfEdge& rows, UnixMs horizon, Now now) {
  const Verdict verdict = Judge(rows.reverse, rows.forward, Believed(order.claim, horizon));
  ports_.metrics.Checked(order.net, verdict.finding);
  Job job{order, verdict, EdgeOf(order.edge, verdict.state), rows.reverse, rows.forward, 0};
  if (verdict.action == Action::kHint) return SendHint(std::move(job));
  if (verdict.action == Action::kReport) {
    return EndHopeless(order, WhyHopeless(verdict, rows, order.claim));
  }
  if (!MayRepair(order, verdict, now)) return End(order, false);
  if (!verdict.guarded) return SendLog(std::move(job));
  const Shard shard = setup_.shards.reverse.ShardOf(order.edge.dst);
  if (gate_.BreakerOpen(shard)) return Withhold(job);
  removals_[shard].push_back(std::move(job));
}

bool Checker::MayRepair(const CheckOrder& order, const Verdict& verdict, Now now) {
  if (gate_.mode() != ReconcilerMode::kRun) {
    ports_.metrics.WouldRepair(order.edge, verdict);
    return false;
  }
  return !verdict.guarded || gate_.Confirmed(order.edge, verdict, now.mono);
}

void Checker::Withhold(const Job& job) {
  ports_.metrics.WouldRepair(job.order.edge, job.verdict);
  End(job.order, false);
}

// ---- removals -------------------------------------------------------------------------------

void Checker::SendRemovals() {
  for (auto& [shard, jobs] : std::exchange(removals_, {})) {
    const auto wanted = static_cast<uint32_t>(jobs.size());
    const TakeRemovals request = gate_.Asking(++ids_, shard, wanted);
    taking_.emplace(request.id, Removals{request, std::move(jobs)});
    ports_.store.Submit(request);
  }
}

// Granted removals count as used even if the mode has changed meanwhile.
void Checker::On(const RemovalsTaken& taken, Now) {
  Removals removals = TakeAnswered(taking_, taken.id);
  if (!taken.status.done()) {
    if (taken.status.later()) ports_.metrics.Parked(taken.status.resource);
    for (const Job& job : removals.jobs) Fail(job.order, taken.status);
    return;
  }
  const Shard shard = removals.asked.shard;
  gate_.Given(removals.asked, taken.granted);
  ports_.metrics.BreakerOpen(shard, gate_.BreakerOpen(shard));
  const bool run = gate_.mode() == ReconcilerMode::kRun;
  for (size_t i = 0; i < removals.jobs.size(); ++i) {
    if (run && i < taken.granted) {
      SendLog(std::move(removals.jobs[i]));
    } else {
      Withhold(removals.jobs[i]);
    }
  }
}

// ---- repairs --------------------------------------------------------------------------------

void Checker::SendLog(Job job) {
  LogRepair request{++ids_,
                    NameOf(job.order.net),
                    NameOf(job.verdict.finding),
                    job.order.edge,
                    Text(job.verdict.action == Action::kBump ? job.forward : job.reverse),
                    Text(job.verdict.state),
                    job.verdict.state.ver};
  jobs_.emplace(request.id, std::move(job));
  ports_.store.Submit(std::move(request));
}

void Checker::On(const RepairLogged& logged, Now) {
  auto job = TakeIfDone(logged.id, logged.status);
  if (!job) return;
  if (job->verdict.action != Action::kBump) return SendApply(std::move(*job));
  const AdoptEdge request{++ids_, job->edge};
  jobs_.emplace(request.id, std::move(*job));
  ports_.store.Submit(request);
}

void Checker::On(const EdgeAdopted& adopted, Now) {
  auto job = TakeIfDone(adopted.id, adopted.status);
  if (!job) return;
  if (!adopted.adopted) return End(job->order, false);  // the forward row changed meanwhile
  job->edge = adopted.edge;
  SendApply(std::move(*job));
}

void Checker::SendApply(Job job) {
  ApplyEdges request{++ids_, setup_.shards.reverse.ShardOf(job.edge.dst), {job.edge}};
  jobs_.emplace(request.id, std::move(job));
  ports_.store.Submit(std::move(request));
}

void Checker::On(const EdgesApplied& applied, Now now) {
  auto job = TakeIfDone(applied.id, applied.status);
  if (!job) return;
  job->mirrored = applied.applied.at(0).ver;
  ports_.metrics.Repaired(job->order.net, job->verdict, AgeOf(job->verdict.state, now));
  SendHint(std::move(*job));
}

void Checker::SendHint(Job job) {
  if (!setup_.ours) return SendMessage(std::move(job));
  AppendHints request{++ids_, {}, {}};
  const EdgeKey edge = job.order.edge;
  jobs_.emplace(request.id, std::move(job));
  request.hints.emplace_back(setup_.layout.RangeOf(edge.src), Hint::OfSync(edge.src, edge.dst));
  ports_.hints.Submit(std::move(request));
}

void Checker::On(const HintsAppended& appended, Now) {
  auto job = TakeIfDone(appended.id, appended.status);
  if (job) SendMessage(std::move(*job));
}

void Checker::SendMessage(Job job) {
  if (job.mirrored == 0) return End(job.order, true);  // nothing had to be written
  AppendRelations request{++ids_, {EdgeMirrored{job.order.edge, job.mirrored}}, {}};
  jobs_.emplace(request.id, std::move(job));
  ports_.relations.Submit(std::move(request));
}

void Checker::On(const RelationsAppended& appended, Now) {
  if (auto job = TakeIfDone(appended.id, appended.status)) End(job->order, true);
}

std::optional<Checker::Job> Checker::TakeIfDone(uint64_t id, const Status& status) {
  Job job = TakeAnswered(jobs_, id);
  if (status.done()) return job;
  if (status.later()) ports_.metrics.Parked(status.resource);
  Fail(job.order, status);
  return std::nullopt;
}

void Checker::Fail(const CheckOrder& order, const Status& status) {
  status.never() ? EndHopeless(order, status.message) : End(order, false);
}

void Checker::EndHopeless(const CheckOrder& order, const std::string& why) {
  ports_.metrics.Hopeless(order.edge, why);
  results_.push_back({order, false, why});
}

}  // namespace fanline::reconciler
