#include "backends/redis/cluster/masters.h"

#include <algorithm>

#include "backends/redis/client/errors.h"
#include "backends/redis/client/identity.h"
#include "backends/redis/client/reply.h"

namespace fanline::redis {
namespace {

// The text of a reply that is one.
Status ReadText(BlockingConnection& connection, const CommandBuffer& command, std::string* out) {
  return connection.Call(command, [&](const redisReply& reply) {
    *out = Text(reply);
    return Status::Done();
  });
}

}  // namespace

Masters::Masters(const Options& options) : options_(options), sentinels_(options) {}
Masters::~Masters() = default;

BlockingConnection& Masters::At(const Endpoint& node) {
  auto& connection = connections_[ToString(node)];
  if (!connection) connection = std::make_unique<BlockingConnection>(options_.At(node));
  return *connection;
}

// ---- the map --------------------------------------------------------------------------------

// The masters known, then the seeds.
std::vector<Endpoint> Masters::Candidates() const {
  std::vector<Endpoint> candidates = map_.masters();
  for (const Endpoint& seed : options_.seeds) {
    if (std::find(candidates.begin(), candidates.end(), seed) == candidates.end())
      candidates.push_back(seed);
  }
  std::stable_partition(candidates.begin(), candidates.end(),
                        [this](const Endpoint& node) { return ToString(node) != silent_; });
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

Status Masters::AskNodes(Ask ask, SlotMap* fresh) {
  Status last = Away("no address of redis is known");
  auto known = map_.masters();
  auto candidates = Candidates();
  const auto holds = [](const std::vector<Endpoint>& nodes, const Endpoint& wanted) {
    return std::find(nodes.begin(), nodes.end(), wanted) != nodes.end();
  };
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Endpoint node = candidates[i];  // a copy: the list grows by masters that are heard of
    if (!fresh->empty()) {
      if (ask == Ask::kOne || !holds(known, node) || fresh->failing(node)) continue;
    }
    const Status status = AskNode(node, fresh);
    if (!status.done()) {
      silent_ = ToString(node);
      if (fresh->empty()) last = status;
      continue;
    }
    for (const Endpoint& master : fresh->masters()) {
      if (!holds(known, master)) known.push_back(master);
      if (!holds(candidates, master)) candidates.push_back(master);
    }
  }
  return fresh->empty() ? last : Status::Done();
}

Status Masters::AskNode(const Endpoint& node, SlotMap* fresh) {
  BlockingConnection& connection = At(node);
  CommandBuffer info;
  info.Command("INFO", "cluster");
  std::string text;
  if (Status status = ReadText(connection, info, &text); !status.done()) return status;
  if (InfoField(text, "cluster_enabled") != "1") return AskNoCluster(node, fresh);
  CommandBuffer nodes;
  nodes.Command("CLUSTER", "NODES");
  if (Status status = ReadText(connection, nodes, &text); !status.done()) return status;
  fresh->Add(ParseNodes(text, node));
  if (!fresh->empty()) return Status::Done();
  return Away("redis " + ToString(node) + " is a cluster node that knows no master with slots");
}

Status Masters::AskNoCluster(const Endpoint& node, SlotMap* fresh) {
  CommandBuffer info;
  info.Command("INFO", "server");
  std::string text;
  if (Status status = ReadText(At(node), info, &text); !status.done()) return status;
  if (InfoField(text, "redis_mode") == "sentinel") {
    return Away(
        "redis " + ToString(node) +
        " is a Sentinel: say by --redis-sentinel-master which master it is to be asked for");
  }
  if (options_.seeds.size() > 1) {
    return Away("redis " + ToString(node) +
                " is no node of a cluster, so it must be the only address: of several that know "
                "nothing of each other each would hold a part of the timelines");
  }
  *fresh = SlotMap::Single(node);
  return Status::Done();
}

// ---- Sentinels ------------------------------------------------------------------------------

Status Masters::AskSentinels(Ask ask, SlotMap* fresh) {
  std::optional<Sentinels::Word> latest;
  Status checked;
  const Status heard = sentinels_.Ask([&](const Sentinels::Word& word) {
    if (latest && word.epoch <= latest->epoch) return true;
    latest = word;
    if (ask == Ask::kAll) return true;
    checked = CheckMaster(word.master);
    return !checked.done();
  });
  if (!heard.done()) return heard;
  if (ask == Ask::kAll) checked = CheckMaster(latest->master);
  if (checked.done()) *fresh = SlotMap::Single(latest->master);
  return checked;
}

// A replica that is being made a master is named before it is one.
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
  silent_ = ToString(node);
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
