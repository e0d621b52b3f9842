// Redis, one node, a Cluster or the master that Sentinels watch, over blocking connections: one to
// each master, opened when first needed, and the map of who serves what. One thread. The timeouts
// bound every call.
//
// A call on a key goes to its bucket's master. MOVED is followed, once. After a node that did not
// answer, the next call first asks the others for the map. Nodes are asked for it at once, or in
// quick succession, so those that hang do not add up (survey.h).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/redis/client/blocking_connection.h"
#include "backends/redis/cluster/sentinels.h"
#include "backends/redis/cluster/slot_map.h"
#include "backends/redis/cluster/survey.h"

namespace fanline::redis {

class Masters {
 public:
  explicit Masters(const Options& options);
  ~Masters();

  enum class Ask {
    kOne,  // who answers first: quick
    // Every master, or Sentinel: a former master is overruled by its successor. Who is silent when
    // most have answered is waited for no longer than Survey::kGrace.
    kAll,
  };
  // Makes the map anew. Not done: nobody answered, and the old map stays.
  Status Refresh(Ask ask);
  const SlotMap& map() const { return map_; }
  // Why each master of the map that did not answer at the last Refresh by kAll, or since, did not.
  std::vector<std::string> Missing() const;
  Status EnsureMap() { return map_.empty() || doubt_ ? Refresh(Ask::kOne) : Status::Done(); }

  using OnReply = BlockingConnection::OnReply;
  enum class OnAsk {
    kFail,    // a slot between two nodes answers kLater
    kFollow,  // the key may have left already: it is asked for where it goes
  };
  // One command, or script, whose keys are all of that bucket.
  Status Call(Bucket bucket, const CommandBuffer& command, const OnReply& on_reply);
  Status Eval(Bucket bucket, Script script, const CommandChannel::Encode& encode,
              const OnReply& on_reply, OnAsk on_ask = OnAsk::kFail);

  // The connection to a node, for what concerns no single key.
  BlockingConnection& At(const Endpoint& node);

 private:
  using Asking = std::function<Status(BlockingConnection& connection, bool asking)>;
  Status Route(Bucket bucket, const Asking& ask, OnAsk on_ask);
  std::vector<Endpoint> Candidates() const;
  void BeginToAsk(Ask ask);
  Status AskNodes(Ask ask, SlotMap* fresh);
  void EndAsking(Ask ask, const SlotMap& fresh, const std::vector<Endpoint>& answered);
  Status Take(const Survey::Heard& heard, SlotMap* fresh) const;
  Status TakeNoCluster(const Survey::Heard& heard, SlotMap* fresh) const;
  Status AskSentinels(Ask ask, SlotMap* fresh);
  Status CheckMaster(const Endpoint& node);

  const Options options_;
  Sentinels sentinels_;
  Survey survey_;  // of nodes
  SlotMap map_;
  bool doubt_ = false;  // a node did not answer: it may have a successor
  // Nodes that did not answer last, by address, and why: asked for the map after the others.
  std::map<std::string, std::string> silent_;
  std::map<std::string, std::unique_ptr<BlockingConnection>> connections_;  // by address
};

}  // namespace fanline::redis
