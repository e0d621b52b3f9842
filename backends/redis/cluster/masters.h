// Redis over blocking connections: one node, a Cluster, or the master that Sentinels watch. Holds a
// connection to each master, opened when first needed, and the map of who serves what. One thread.
// The timeouts bound every call.
// A call on a key goes to its bucket's master. MOVED is followed once. After a node did not answer,
// the next call first asks the others for the map, at most once a second. Nodes are asked together
// or in quick succession, so the waits for hanging nodes do not add up (survey.h).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/redis/client/blocking_connection.h"
#include "backends/redis/cluster/slot_map.h"
#include "backends/redis/cluster/survey.h"
#include "fanline/base/time.h"

namespace fanline::redis {

// What a Sentinel says about where the master is. When a master fails, the Sentinels elect one of
// them to promote a replica. A Sentinel that was cut off names the former master until it learns of
// the new one, so the word with the later configuration epoch counts, as among the Sentinels
// themselves.
struct SentinelWord {
  Endpoint master;
  uint64_t epoch = 0;
};

class Masters {
 public:
  explicit Masters(const Options& options);

  enum class Ask {
    kOne,  // the first node that answers: quick
    // Every master, or Sentinel, so that a successor overrules a former master. Once most have
    // answered, the silent ones get Survey::kGrace.
    kAll,
  };
  // Renews the map. Not done: nobody answered, and the old map stays.
  Status Refresh(Ask ask);
  const SlotMap& map() const { return map_; }
  // For each master that did not answer at the last Refresh(kAll) or since: why.
  std::vector<std::string> Missing() const;
  Status EnsureMap();

  using OnReply = BlockingConnection::OnReply;
  enum class OnAsk {
    kFail,    // a slot between two nodes answers kLater
    kFollow,  // the key may have moved already: the call goes to the other node
  };
  // One command or script whose keys all belong to that bucket.
  Status Call(Bucket bucket, const CommandBuffer& command, const OnReply& on_reply,
              OnAsk on_ask = OnAsk::kFail);

  // The connection to a node, for what concerns no single key.
  BlockingConnection& At(const Endpoint& node);

 private:
  struct Count {  // of those who can say who the masters are
    size_t all = 0, answered = 0;
    bool complete = false;  // no answer is awaited
  };
  bool by_sentinels() const { return !options_.sentinel_master.empty(); }
  std::vector<Endpoint> Candidates() const;
  void BeginToAsk(Ask ask);
  Status AskAround(Ask ask, SlotMap* fresh);
  Count AskMasters(const SlotMap& map, const std::vector<Endpoint>& answered);
  void EndAsking(Ask ask, const SlotMap& fresh, const std::vector<Endpoint>& answered);
  Status Take(const Survey::Heard& heard, SlotMap* fresh) const;
  Status TakeNoCluster(const Survey::Heard& heard, SlotMap* fresh) const;
  Status TakeWord(const Survey::Heard& heard, std::optional<SentinelWord>* latest) const;
  Status Settle(const Endpoint& node, SlotMap* fresh);

  const Options options_;
  Survey survey_;  // of Sentinels, if there are any, else of nodes
  SlotMap map_;
  bool doubt_ = false;  // a node did not answer, so it may have a successor
  Time ask_again_{};    // in doubt
  // Nodes that did not answer last time, by address, and why. They are asked for the map last.
  // Sentinels as well.
  std::map<std::string, std::string> silent_;
  std::map<std::string, std::unique_ptr<BlockingConnection>> connections_;  // by address
};

}  // namespace fanline::redis
