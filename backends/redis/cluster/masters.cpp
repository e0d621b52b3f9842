#include "backends/redis/cluster/masters.h"

#include <algorithm>

#include "backends/redis/client/errors.h"
#include "backends/redis/client/identity.h"
#include "backends/redis/client/reply.h"
#include "backends/redis/client/silent_nodes.h"
#include "fanline/base/mono_now.h"

namespace fanline::redis {
namespace {

Status ReadText(BlockingConnection& connection, const CommandBuffer& command, std::string* out) {
  return connection.Call(command, [&](const redisReply& reply) {
    *out = Text(reply);
    return Status::Done();
  });
}

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

// How many masters must still answer before the map is complete.
struct Count {
  size_t masters = 0, answered = 0, open = 0;
  bool most() const { return 2 * answered > masters; }
};
Count CountOf(const SlotMap& map, const std::vector<Endpoint>& answered,
              const std::map<std::string, std::string>& silent) {
  Count count;
  for (const Endpoint& master : map.masters()) {
    ++count.masters;
    if (Holds(answered, master)) {
      ++count.answered;
    } else if (!map.failing(master) && !silent.contains(ToString(master))) {
      ++count.open;
    }
  }
  return count;
}

}  // namespace

Masters::Masters(const Options& options)
    : options_(options),
      sentinels_(options),
      survey_([options](const Endpoint& node) { return options.At(node); }, Questions(),
              kQuestions) {}
Masters::~Masters() = default;

BlockingConnection& Masters::At(const Endpoint& node) {
  auto& connection = connections_[ToString(node)];
  if (!connection) connection = std::make_unique<BlockingConnection>(options_.At(node));
  return *connection;
}

// ---- the map --------------------------------------------------------------------------------

// The known masters, then the seeds; those that were silent come last.
std::vector<Endpoint> Masters::Candidates() const {
  std::vector<Endpoint> candidates = map_.masters();
  for (const Endpoint& seed : options_.seeds) {
    if (!Holds(candidates, seed)) candidates.push_back(seed);
  }
  std::stable_partition(candidates.begin(), candidates.end(),
                        [this](const Endpoint& node) { return !silent_.contains(ToString(node)); });
  return candidates;
}

Status Masters::Refresh(Ask ask) {
  SlotMap fresh;
  Status asked =
      options_.sentinel_master.empty() ? AskNodes(ask, &fresh) : AskSentinels(ask, &fresh);
  if (!asked.done()) return asked;
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
void Masters::BeginToAsk(Ask ask) {
  std::vector<Endpoint> in_a_row = Candidates();
  if (ask == Ask::kOne) return survey_.Begin({}, std::move(in_a_row));
  const std::vector<Endpoint> at_once = map_.empty() ? options_.seeds : map_.masters();
  std::erase_if(in_a_row, [&](const Endpoint& node) { return Holds(at_once, node); });
  survey_.Begin(at_once, std::move(in_a_row));
}

Status Masters::AskNodes(Ask ask, SlotMap* fresh) {
  Status last = Away("no address of redis is known");
  BeginToAsk(ask);
  if (ask == Ask::kAll) silent_.clear();
  std::vector<Endpoint> answered;
  Time until = Time::max();
  while (const auto heard = survey_.Next(until)) {
    const Status status = Take(*heard, fresh);
    if (status.done()) {
      answered.push_back(heard->node);
      silent_.erase(ToString(heard->node));
      survey_.AskNoMore();
    } else {
      silent_[ToString(heard->node)] = status.message;
      last = status;
    }
    if (fresh->empty()) continue;
    if (ask == Ask::kOne) break;
    for (const Endpoint& master : fresh->masters()) {
      if (!fresh->failing(master)) survey_.Ask(master);
    }
    const Count count = CountOf(*fresh, answered, silent_);
    if (count.open == 0) break;
    if (count.most()) until = std::min(until, Survey::Now() + Survey::kGrace);
  }
  EndAsking(ask, *fresh, answered);
  return fresh->empty() ? last : Status::Done();
}

void Masters::EndAsking(Ask ask, const SlotMap& fresh, const std::vector<Endpoint>& answered) {
  for (const Endpoint& node : survey_.Silent()) {
    silent_.emplace(ToString(node), "redis " + ToString(node) + ": no reply in time");
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
  fresh->Add(ParseNodes(said[kNodes].text, heard.node));
  if (!fresh->empty()) return Status::Done();
  return Away("redis " + ToString(heard.node) +
              " is a cluster node that knows no master with slots");
}

Status Masters::TakeNoCluster(const Survey::Heard& heard, SlotMap* fresh) const {
  const Survey::Answer& server = heard.answers[kServer];
  if (!server.error.empty()) return RefusedBy(server);
  if (InfoField(server.text, "redis_mode") == "sentinel") {
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

Status Masters::AskSentinels(Ask ask, SlotMap* fresh) {
  silent_.clear();
  std::optional<Sentinels::Word> latest;
  Status checked;
  const auto take = [&](const Sentinels::Word& word) {
    if (latest && word.epoch <= latest->epoch) return true;
    latest = word;
    if (ask == Ask::kAll) return true;
    checked = CheckMaster(word.master);
    return !checked.done();
  };
  const Status heard = ask == Ask::kAll ? sentinels_.AskAll(take) : sentinels_.AskOne(take);
  if (!heard.done()) return heard;
  if (ask == Ask::kAll) checked = CheckMaster(latest->master);
  if (checked.done()) *fresh = SlotMap::Single(latest->master);
  return checked;
}

// Sentinels name a replica as the master before it has become one.
Status Masters::CheckMaster(const Endpoint& node) {
  CommandBuffer info;
  info.Command("INFO", "replication");
  std::string text;
  if (Status status = ReadText(At(node), info, &text); !status.done()) return status;
  if (IdentityOf(text).master()) return Status::Done();
  return Away("redis " + ToString(node) + " is called the master " + options_.sentinel_master +
              " by the Sentinels, but it is a replica yet");
}

// ---- calls on keys --------------------------------------------------------------------------

Status Masters::Route(Bucket bucket, const Asking& ask, OnAsk on_ask) {
  if (Status status = EnsureMap(); !status.done()) return status;
  const Endpoint* master = map_.MasterOf(bucket);
  if (master == nullptr) {
    doubt_ = true;
    return Away("no node of the redis cluster serves slot " + std::to_string(SlotOf(bucket)));
  }
  Endpoint node = *master;
  Status status = ask(At(node), false);
  ErrorAction wanted = At(node).asks();
  if (wanted == ErrorAction::kFollowMove || wanted == ErrorAction::kHoldRange) {
    const auto redirect = ParseRedirect(status.message, node);
    if (!redirect) return status;
    const bool asking = wanted == ErrorAction::kHoldRange;
    if (asking && on_ask == OnAsk::kFail) return status;
    if (!asking) map_.Move(*redirect);
    node = redirect->to;
    status = ask(At(node), asking);
    wanted = At(node).asks();
  }
  if (status.done() || wanted == ErrorAction::kNone) return status;
  doubt_ = true;
  silent_[ToString(node)] = status.message;
  return status;
}

Status Masters::Call(Bucket bucket, const CommandBuffer& command, const OnReply& on_reply) {
  return Route(
      bucket,
      [&](BlockingConnection& connection, bool) { return connection.Call(command, on_reply); },
      OnAsk::kFail);
}

Status Masters::Eval(Bucket bucket, Script script, const CommandChannel::Encode& encode,
                     const OnReply& on_reply, OnAsk on_ask) {
  return Route(
      bucket,
      [&](BlockingConnection& connection, bool asking) {
        return connection.Eval(script, encode, on_reply, asking);
      },
      on_ask);
}

}  // namespace fanline::redis
