// Which node of Redis serves which bucket. In a Redis Cluster its nodes tell (CLUSTER NODES); a
// node that is no cluster serves all of them. Pure.
//
// Nodes may contradict each other for a while: a former master claims its slots until it hears of
// its successor. As among themselves, the word with the later configuration epoch holds.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "fanline/base/endpoint.h"
#include "fanline/model/bucket.h"

namespace fanline::redis {

using Slot = uint32_t;
inline constexpr Slot kSlots = 16384;
// Of all keys that carry the bucket's tag (TagOf).
constexpr Slot SlotOf(Bucket bucket) { return kSlots / kBuckets * bucket; }
constexpr Bucket BucketAt(Slot slot) { return slot / (kSlots / kBuckets); }

// A slot between two nodes: its keys are being moved, or somebody stopped in the middle.
struct OpenSlot {
  Slot slot = 0;
  Endpoint from;
  Endpoint to;  // port 0: the node told does not know it
};

// What one node says of its cluster.
struct ClusterView {
  struct Master {
    Endpoint address;
    uint64_t epoch = 0;
    bool failing = false;                      // for the node that says it, at least
    std::vector<std::pair<Slot, Slot>> slots;  // first and last
  };
  std::vector<Master> masters;  // those that hold slots
  std::vector<OpenSlot> open;   // that the node itself gives away or takes over
};

// The reply to CLUSTER NODES. `asked`: where; a node that nobody has met yet does not know its own
// host. Lines of an unknown form are left out.
ClusterView ParseNodes(std::string_view text, const Endpoint& asked);

// "MOVED 1280 10.0.0.7:6379", and ASK likewise. Without a host it is that of the node asked.
struct Redirect {
  Slot slot = 0;
  Endpoint to;
};
std::optional<Redirect> ParseRedirect(std::string_view error, const Endpoint& asked);

class SlotMap {
 public:
  static SlotMap Single(const Endpoint& node);  // no cluster

  void Add(const ClusterView& view);
  // MOVED said so: holds until the map is made anew.
  void Move(const Redirect& moved);

  bool empty() const { return nodes_.empty(); }
  const Endpoint* MasterOf(Bucket bucket) const;  // nullptr: nobody serves it
  std::vector<Endpoint> masters() const;          // that serve a bucket, each once
  bool failing(const Endpoint& node) const;
  // Of buckets' slots, each once.
  const std::vector<OpenSlot>& open() const { return open_; }

 private:
  static constexpr size_t kNobody = ~size_t{0};
  struct Claim {
    size_t node = kNobody;
    uint64_t epoch = 0;
  };
  size_t IndexOf(const Endpoint& node);

  std::vector<Endpoint> nodes_;
  std::vector<Endpoint> failing_;
  std::array<Claim, kBuckets> claims_{};
  std::vector<OpenSlot> open_;
};

}  // namespace fanline::redis
