#include "feedctl/relations/rescan.h"

#include <chrono>
#include <random>

#include "fanline/base/mono_now.h"

namespace fanline::feedctl {
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
      gate_({}, map_.shards()),
      changes_(options::ToConfig(settings.mysql), {}, {}),
      store_(options::ToConfig(settings.mysql), map_, {}),
      producer_({.client = options::ToOptions(settings.kafka, kClientId),
                 .hint_topic = installation.tasks_topic},
                {}),
      comparer_(
          Net::kLog, Ports(),
          {.layout = installation.layout(), .shards = {map_, map_}, .seed = std::random_device{}()},
          {.edges_per_second = options.edges_per_second}, gate_) {
  gate_.SetMode(ReconcilerMode::kRun);
}

reconciler::EdgeComparer::Ports Rescan::Ports() {
  return {.log = {changes_, inbox_},
          .store = {store_, inbox_},
          .retries = {*this, inbox_},
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
    for (const Reply& reply : inbox_.Await(next)) comparer_.On(reply, SystemNow());
  }
}

void Rescan::Serve(const AppendRetries& request, ReplyTo<RetriesAppended> to) {
  given_ += request.retries.size();
  options_.apply ? producer_.Submit(request, to) : to({request.id, {}});
}

void Rescan::Differs(const EdgeKey& edge, reconciler::Finding finding) {
  const std::string what = reconciler::NameOf(finding);
  ++differing_;
  ++causes_[what];
  if (named_.size() < options_.show) named_.push_back({edge, what});
}

}  // namespace fanline::feedctl
