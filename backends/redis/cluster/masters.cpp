#include "backends/redis/cluster/masters.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "backends/redis/client/errors.h"
#include "backends/redis/client/identity.h"
#include "backends/redis/client/reply.h"
#include "backends/redis/client/silent_nodes.h"
#include "fanline/base/mono_now.h"
#include "fanline/base/number.h"

namespace fanline::redis {
namespace {

// The questions to any node when the map is asked for. A node outside a cluster refuses the last.
enum Question : size_t { kCluster, kServer, kNodes, kQuestions };
CommandBuffer Questions() {
  CommandBuffer questions;
  questions.Command("INFO", "cluster");
  questions.Command("INFO", "server");
  questions.Command("CLUSTER", "NODES");
  return questions;
}

bool Holds(const std::vector<Endpoint>& nodes, const Endpoint& wanted) {
  return std::find(nodes.begin(), nodes.end(), wanted) != nodes.end();
}

// ---- what Sentinels are asked, and their answers -------------------------------------------

// [.., "config-epoch", "3", ..]
uint64_t EpochOf(const std::vector<std::string>& fields) {
  for (size_t i = 0; i + 1 < fields.size(); i += 2) {
    if (fields[i] == "config-epoch") return ParseNumber<uint64_t>(fields[i + 1]).value_or(0);
  }
  return 0;
}

constexpr std::string_view kUnknownCommand = "ERR unknown command";

// Sentinels have their own name and password.
Status OfSentinel(Status status) {
  if (status.cause == Cause::kTurnedAway) {
    status.advice = "set --redis-sentinel-user and --redis-sentinel-password-file";
  } else if (status.cause == Cause::kNoLogin) {
    status.advice = "leave --redis-sentinel-password out, or give the Sentinels one";
  }
  return status;
}

// Two questions to a Sentinel. `master`: what it calls the master. Only the first one names a
// replica from the moment that it is promoted.
CommandBuffer SentinelQuestions(const std::string& master) {
  CommandBuffer questions;
  questions.Command("SENTINEL", "get-master-addr-by-name", master);
  questions.Command("SENTINEL", "master", master);
  return questions;
}

// Reads the answers. Not done: they name no master.
Status ReadWord(const Survey::Heard& heard, const std::string& master, SentinelWord* word) {
  if (!heard.status.done()) return OfSentinel(heard.status);
  const std::string who = "Sentinel " + ToString(heard.node) + ": ";
  const Survey::Answer& address = heard.answers[0];
  if (address.error.starts_with(kUnknownCommand)) {
    Status status = Mistaken("it is no Sentinel: " + who + address.error);
    status.advice = "leave --redis-sentinel-master out, or name Sentinels by --redis";
    return status;
  }
  if (!address.error.empty()) {
    const Status refused = RefusedBy(address);
    Status status = Away(who + refused.message);
    status.cause = refused.cause;
    status.advice = refused.advice;
    return OfSentinel(std::move(status));
  }
  if (address.items.size() == 2) {
    if (const auto port = ParseNumber<uint16_t>(address.items[1])) {
      *word = {{address.items[0], *port}, EpochOf(heard.answers[1].items)};
      return Status::Done();
    }
  }
  return Mistaken(who + "it watches no master called " + master + "; set --redis-sentinel-master");
}

Survey SurveyOf(const Options& options) {
  if (options.sentinel_master.empty()) {
    return {[options](const Endpoint& node) { return options.At(node); }, Questions(), kQuestions};
  }
  return {[options](const Endpoint& sentinel) { return options.AtSentinel(sentinel); },
          SentinelQuestions(options.sentinel_master), 2};
}

}  // namespace

Masters::Masters(const Options& options) : options_(options), survey_(SurveyOf(options)) {}

BlockingConnection& Masters::At(const Endpoint& node) {
  auto& connection = connections_[ToString(node)];
  if (!connection) connection = std::make_unique<BlockingConnection>(options_.At(node));
  return *connection;
}

// ---- the map --------------------------------------------------------------------------------

// The known masters, then the seeds; those that were silent come last. Sentinels are seeds.
std::vector<Endpoint> Masters::Candidates() const {
  std::vector<Endpoint> candidates;
  if (!by_sentinels()) candidates = map_.masters();
  for (const Endpoint& seed : options_.seeds) {
    if (!Holds(candidates, seed)) candidates.push_back(seed);
  }
  std::stable_partition(candidates.begin(), candidates.end(),
                        [this](const Endpoint& node) { return !silent_.contains(ToString(node)); });
  return candidates;
}

Status Masters::Refresh(Ask ask) {
  SlotMap fresh;
  if (Status asked = AskAround(ask, &fresh); !asked.done()) return asked;
  map_ = std::move(fresh);
  doubt_ = false;
  const auto masters = map_.masters();
  std::erase_if(connections_, [&](const auto& entry) {
    return std::none_of(masters.begin(), masters.end(),
                        [&](const Endpoint& master) { return ToString(master) == entry.first; });
  });
  return Status::Done();
}

// Whoever asks a node that rests doubts, and most of them want another node next.
Status Masters::EnsureMap() {
  const Time now = MonoNow();
  if (!map_.empty() && (!doubt_ || now < ask_again_)) return Status::Done();
  ask_again_ = now + SilentNodes::kRest;
  return Refresh(Ask::kOne);
}

// kAll asks every known master, and the seeds only while none of them answers.
// Of Sentinels, which are seeds, it asks every one.
void Masters::BeginToAsk(Ask ask) {
  std::vector<Endpoint> in_a_row = Candidates();
  if (ask == Ask::kOne) return survey_.Begin({}, std::move(in_a_row));
  silent_.clear();
  const std::vector<Endpoint> at_once =
      by_sentinels() || map_.empty() ? options_.seeds : map_.masters();
  std::erase_if(in_a_row, [&](const Endpoint& node) { return Holds(at_once, node); });
  survey_.Begin(at_once, std::move(in_a_row));
}

Status Masters::AskAround(Ask ask, SlotMap* fresh) {
  Status last = Away("no address of redis is known");
  BeginToAsk(ask);
  std::vector<Endpoint> answered;
  std::optional<SentinelWord> latest;
  std::optional<Status> settled;  // of kOne: whether the latest word is true
  uint64_t settled_epoch = 0;
  Time until = Time::max();
  while (const auto heard = survey_.Next(until)) {
    const Status status = by_sentinels() ? TakeWord(*heard, &latest) : Take(*heard, fresh);
    if (status.done()) {
      answered.push_back(heard->node);
      silent_.erase(ToString(heard->node));
    } else {
      silent_[ToString(heard->node)] = status.message;
      last = status;
    }
    if (ask == Ask::kOne) {
      if (latest && (!settled || latest->epoch > settled_epoch)) {
        settled_epoch = latest->epoch;
        settled = Settle(latest->master, fresh);
      }
      if (!fresh->empty()) break;
      continue;
    }
    const Count count = by_sentinels() ? Count{options_.seeds.size(), answered.size()}
                                       : AskMasters(*fresh, answered);
    if (count.complete) break;
    if (2 * count.answered > count.all) until = std::min(until, MonoNow() + Survey::kGrace);
  }
  EndAsking(ask, *fresh, answered);
  if (latest) last = ask == Ask::kAll ? Settle(latest->master, fresh) : *settled;
  return fresh->empty() ? last : Status::Done();
}

// Asks the masters that the map names, unless they were asked.
Masters::Count Masters::AskMasters(const SlotMap& map, const std::vector<Endpoint>& answered) {
  Count count;
  if (map.empty()) return count;
  survey_.AskNoMore();
  count.complete = true;
  for (const Endpoint& master : map.masters()) {
    ++count.all;
    if (!map.failing(master)) survey_.Ask(master);
    if (Holds(answered, master)) {
      ++count.answered;
    } else if (!map.failing(master) && !silent_.contains(ToString(master))) {
      count.complete = false;
    }
  }
  return count;
}

void Masters::EndAsking(Ask ask, const SlotMap& fresh, const std::vector<Endpoint>& answered) {
  for (const Endpoint& node : survey_.Silent()) {
    silent_.emplace(ToString(node), "redis " + ToString(node) + ": " + kNoAnswer);
  }
  survey_.End();
  if (ask == Ask::kOne) return;
  for (const Endpoint& node : fresh.masters()) {
    if (Holds(answered, node)) continue;  // else silent_ says why, or it was not asked
    silent_.emplace(ToString(node), "redis " + ToString(node) + ": other nodes say that it fails");
  }
}

Status Masters::Take(const Survey::Heard& heard, SlotMap* fresh) const {
  if (!heard.status.done()) return heard.status;
  const auto& said = heard.answers;
  if (!said[kCluster].error.empty()) return RefusedBy(said[kCluster]);
  if (InfoField(said[kCluster].text, "cluster_enabled") != "1") return TakeNoCluster(heard, fresh);
  if (!said[kNodes].error.empty()) return RefusedBy(said[kNodes]);
  const ClusterView view = ParseNodes(said[kNodes].text, heard.node);
  for (const auto& [node, name] : view.names) options_.announced->Learn(node, name);
  fresh->Add(view);
  if (!fresh->empty()) return Status::Done();
  return Away("redis " + ToString(heard.node) +
              " is a cluster node that knows no master with slots");
}

Status Masters::TakeNoCluster(const Survey::Heard& heard, SlotMap* fresh) const {
  const Survey::Answer& server = heard.answers[kServer];
  if (!server.error.empty()) return RefusedBy(server);
  // Valkey 8 and later calls the field server_mode.
  if (InfoField(server.text, "redis_mode") == "sentinel" ||
      InfoField(server.text, "server_mode") == "sentinel") {
    return Mistaken(
        "redis " + ToString(heard.node) +
        " is a Sentinel: say by --redis-sentinel-master which master it is to be asked for");
  }
  if (options_.seeds.size() > 1) {
    return Mistaken(
        "redis " + ToString(heard.node) +
        " is no node of a cluster, so it must be the only address: of several that know "
        "nothing of each other each would hold a part of the timelines");
  }
  *fresh = SlotMap::Single(heard.node);
  return Status::Done();
}

std::vector<std::string> Masters::Missing() const {
  std::vector<std::string> missing;
  for (const Endpoint& master : map_.masters()) {
    const auto found = silent_.find(ToString(master));
    if (found != silent_.end()) missing.push_back(found->second);
  }
  return missing;
}

// ---- Sentinels ------------------------------------------------------------------------------

Status Masters::TakeWord(const Survey::Heard& heard, std::optional<SentinelWord>* latest) const {
  SentinelWord word;
  Status status = ReadWord(heard, options_.sentinel_master, &word);
  if (status.done() && !(*latest && word.epoch <= (*latest)->epoch)) *latest = word;
  return status;
}

// Sentinels name a replica as the master before it has become one.
Status Masters::Settle(const Endpoint& node, SlotMap* fresh) {
  Identity identity;
  const Status status =
      At(node).Call(CommandOf("INFO", "replication"), [&](const redisReply& reply) {
        identity = IdentityOf(Text(reply));
        return Status::Done();
      });
  if (!status.done()) return status;
  if (!identity.master()) {
    return Away("redis " + ToString(node) + " is called the master " + options_.sentinel_master +
                " by the Sentinels, but it is a replica yet");
  }
  *fresh = SlotMap::Single(node);
  silent_.erase(ToString(node));
  return Status::Done();
}

// ---- calls on keys --------------------------------------------------------------------------

Status Masters::Call(Bucket bucket, const CommandBuffer& command, const OnReply& on_reply,
                     OnAsk on_ask) {
  if (Status status = EnsureMap(); !status.done()) return status;
  const Endpoint* master = map_.MasterOf(bucket);
  if (master == nullptr) {
    doubt_ = true;
    return Away("no node of the redis cluster serves slot " + std::to_string(SlotOf(bucket)));
  }
  Endpoint node = *master;
  Status status = At(node).Call(command, on_reply);
  ErrorAction wanted = At(node).asks();
  if (wanted == ErrorAction::kFollowMove || wanted == ErrorAction::kHoldRange) {
    const auto redirect = ParseRedirect(status.message, node);
    if (!redirect) return status;
    const bool asking = wanted == ErrorAction::kHoldRange;
    if (asking && on_ask == OnAsk::kFail) return status;
    if (!asking) map_.Move(*redirect);
    node = redirect->to;
    status = At(node).Call(command, on_reply, asking);
    wanted = At(node).asks();
  }
  if (status.done() || wanted == ErrorAction::kNone) return status;
  doubt_ = true;
  silent_[ToString(node)] = status.message;
  return status;
}

}  // namespace fanline::redis
