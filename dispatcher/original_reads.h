// Reads what reposts show before their events are stored. An application may name a repost; what is
// stored is the original that this one shows, which its row on its author's shard says.
//
// Nothing depends on it. If the row is not there yet, or its shard does not answer, the event goes
// on as it is. It waits at most `wait`, in its author's share of the events under way. A shard that
// kept one event waiting in vain is not waited for again until it answers, or for a back-off after
// it said that it is away. So it holds up no partition
// (docs/decisions/0024-what-hangs-holds-its-own-share.md).
//
// A shard has one request under way; the events that come meanwhile share the next one.
//
// Passive, not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dispatcher/metrics.h"
#include "fanline/model/bucket.h"
#include "fanline/model/original.h"
#include "fanline/ports/port.h"
#include "fanline/ports/post_store.h"

namespace fanline::dispatcher {

class OriginalReads {
 public:
  struct Found {
    uint64_t job = 0;
    Original original;  // as it was named, or what that post shows
  };

  // `ids` numbers requests. All outlive this object.
  OriginalReads(Port<ReadShown> posts, Metrics& metrics, const ShardMap& shards, Duration wait,
                uint64_t& ids)
      : posts_(posts),
        metrics_(metrics),
        shards_(shards),
        wait_(wait),
        ids_(ids),
        at_(shards.shards()) {}

  void Add(uint64_t job, const Original& named, Now now);
  void On(const ShownRead& reply, Now now);
  // Asks for what is waited for, and gives up what was waited for too long.
  void Step(Now now);
  // Those that wait no longer, each once.
  std::vector<Found> Take() { return std::exchange(found_, {}); }
  // Forgets the jobs for which `gone(id)` is true.
  template <typename Gone>
  void Forget(Gone gone) {
    const auto is_gone = [&](const Found& each) { return gone(each.job); };
    for (AtShard& shard : at_) {
      std::erase_if(shard.waiting, is_gone);
      std::erase_if(shard.asked, is_gone);
    }
    std::erase_if(found_, is_gone);
  }
  std::optional<Time> timer() const;

 private:
  struct AtShard {
    std::vector<Found> waiting;  // for the next request
    std::vector<Found> asked;    // by the one under way
    uint64_t request = 0;        // 0: none is under way
    Time since{};                // when it was made
    Time quiet_until{};          // it is not asked before
    bool late = false;           // the request under way is not waited for any more
  };

  void GoOnAsNamed(AtShard& shard);

  const Port<ReadShown> posts_;
  Metrics& metrics_;
  const ShardMap& shards_;
  const Duration wait_;
  uint64_t& ids_;
  std::vector<AtShard> at_;
  std::vector<Found> found_;
};

}  // namespace fanline::dispatcher
