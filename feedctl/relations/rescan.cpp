#include "feedctl/relations/rescan.h"

#include <chrono>
#include <random>

#include "fanline/base/mono_now.h"

namespace fanline::feedctl {
namespace {

using reconciler::CheckerReply;
using reconciler::ComparerReply;

reconciler::GateLimits GateOf(const RescanOptions& options) {
  reconciler::GateLimits limits;
  limits.removals_per_minute = options.removals_per_minute;
  return limits;
}

}  // namespace

void Rescan::Inbox::Push(Reply reply) {
  {
    const std::lock_guard lock(mutex);
    replies.push_back(std::move(reply));
  }
  came.notify_one();
}

std::vector<Rescan::Reply> Rescan::Inbox::Await(std::optional<Time> until) {
  constexpr Duration kMost = std::chrono::milliseconds(200);  // until an interrupt is noticed
  const Time latest = MonoNow() + kMost;
  std::unique_lock lock(mutex);
  came.wait_until(lock, std::min(until.value_or(latest), latest),
                  [this] { return !replies.empty(); });
  return std::exchange(replies, {});
}

Rescan::Rescan(const Settings& settings, const mysql::Installation& installation,
               const RescanOptions& options)
    : options_(options),
      map_(installation.shard_map),
      gate_(GateOf(options), map_.shards()),
      changes_(options::ToConfig(settings.mysql), {}, {}),
      store_(options::ToConfig(settings.mysql), map_, {}),
      producer_({.client = options::ToOptions(settings.kafka, kClientId),
                 .hint_topic = installation.tasks_topic},
                {}),
      comparer_(
          Net::kLog, Ports(),
          {.layout = installation.layout(), .shards = {map_, map_}, .seed = std::random_device{}()},
          {.edges_per_second = options.edges_per_second,
           .patience = {.first = std::chrono::seconds(5), .most = std::chrono::seconds(5)}},
          gate_) {
  gate_.SetMode(options.apply ? ReconcilerMode::kRun : ReconcilerMode::kDryRun, options.closings);
}

reconciler::EdgeComparer::Ports Rescan::Ports() {
  const auto to = AsPart<ComparerReply>(inbox_);
  const auto to_checker = AsPart<CheckerReply>(inbox_);
  return {.checker = {.log = {changes_, to_checker},
                      .store = {store_, to_checker},
                      .hints = {producer_, to_checker},
                      .relations = {producer_, to_checker},
                      .metrics = *this},
          .log = {changes_, to},
          .store = {store_, to},
          .retries = {*this, to},
          .metrics = *this};
}

void Rescan::Take(const RelationMessage& message) {
  const EdgeKey edge = KeyOf(message);
  if (options_.shard && map_.ShardOf(edge.src) != *options_.shard &&
      map_.ShardOf(edge.dst) != *options_.shard) {
    return;
  }
  const EdgeClaim claim = ClaimOf(message);
  const auto [known, first] = edges_.try_emplace(edge, claim);
  if (!first && StandsFor(claim, known->second)) known->second = claim;
}

void Rescan::Compare(const std::function<bool()>& stop) {
  uint64_t ticket = 0;
  for (const auto& [edge, claim] : edges_) comparer_.Compare({++ticket, edge, claim});
  edges_.clear();
  bool stopped = false;
  while (true) {
    const Now now = SystemNow();
    const auto next = comparer_.Send(now);
    compared_ += comparer_.TakeFinished().size();
    if (comparer_.open() == 0 || (stopped && comparer_.idle())) return;
    if (!stopped && stop()) {
      stopped = true;
      comparer_.StopTaking();
    }
    for (const Reply& reply : inbox_.Await(next)) {
      std::visit([&](const auto& each) { comparer_.On(each, SystemNow()); }, reply);
    }
  }
}

void Rescan::Serve(const AppendRetries& request, ReplyTo<RetriesAppended> to) {
  left_ += request.retries.size();
  options_.apply ? producer_.Submit(request, to) : to({request.id, {}});
}

void Rescan::Repaired(Net, const reconciler::Verdict& verdict, Duration) {
  ++repaired_;
  ++causes_[reconciler::NameOf(verdict.finding)];
}

void Rescan::WouldRepair(const EdgeKey& edge, const reconciler::Verdict& verdict) {
  ++causes_[reconciler::NameOf(verdict.finding)];
  Name(edge, reconciler::NameOf(verdict.finding));
}

void Rescan::Hopeless(const EdgeKey& edge, const std::string& why) { Name(edge, why); }

void Rescan::Name(const EdgeKey& edge, const std::string& what) {
  ++differing_;
  if (named_.size() < options_.show) named_.push_back({edge, what});
}

}  // namespace fanline::feedctl
