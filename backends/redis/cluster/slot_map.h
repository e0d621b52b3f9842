// Which node of Redis serves which bucket. The nodes of a Cluster tell it (CLUSTER NODES); a node
// outside a Cluster serves all buckets. Pure.
// Nodes may contradict each other for a while: a former master claims its slots until it learns of
// its successor. The word with the later configuration epoch counts, as among the nodes themselves.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fanline/base/endpoint.h"
#include "fanline/base/time.h"
#include "fanline/model/bucket.h"

namespace fanline::redis {

using Slot = uint32_t;
inline constexpr Slot kSlots = 16384;
// The slot of all keys that carry the bucket's tag (TagOf).
constexpr Slot SlotOf(Bucket bucket) { return kSlots / kBuckets * bucket; }
constexpr Bucket BucketAt(Slot slot) { return slot / (kSlots / kBuckets); }

// A slot between two nodes: its keys are being moved, or the move was abandoned.
struct OpenSlot {
  Slot slot = 0;
  Endpoint from;
  Endpoint to;  // port 0: the reporting node does not know it
};

// What one node reports about its cluster.
struct ClusterView {
  struct Master {
    Endpoint address;
    uint64_t epoch = 0;
    bool failing = false;                      // in the reporting node's view
    std::vector<std::pair<Slot, Slot>> slots;  // first and last
  };
  std::vector<Master> masters;  // those that hold slots
  std::vector<OpenSlot> open;   // that the node itself hands over or takes over
  // What nodes announce beside their address, replicas too. Those that announce none are left out.
  std::vector<std::pair<Endpoint, std::string>> names;
};

// The reply of node `asked` to CLUSTER NODES. A node that has met no other yet does not know its
// own host. Lines of an unknown form are left out.
ClusterView ParseNodes(std::string_view text, const Endpoint& asked);

// "MOVED 1280 10.0.0.7:6379", or ASK. A missing host is that of the node asked.
struct Redirect {
  Slot slot = 0;
  Endpoint to;
};
std::optional<Redirect> ParseRedirect(std::string_view error, const Endpoint& asked);

class SlotMap {
 public:
  static SlotMap Single(const Endpoint& node);  // no cluster

  void Add(const ClusterView& view);
  // Applies a MOVED, until the map is renewed.
  void Move(const Redirect& moved);

  bool empty() const { return nodes_.empty(); }
  const Endpoint* MasterOf(Bucket bucket) const;  // nullptr: nobody serves it
  std::vector<Endpoint> masters() const;          // each node that serves a bucket, once
  bool failing(const Endpoint& node) const;
  // The open slots among those of buckets, each once.
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

// Which of our slots are between two nodes, and since when. A reshard moves a slot within seconds.
// A slot that takes longer was abandoned, and its range waits until an operator finishes the move.
class MigrationWatch {
 public:
  explicit MigrationWatch(Duration left_after) : left_after_(left_after) {}

  // `open`: all open slots now. Returns those that have just become open for too long, each once.
  std::vector<OpenSlot> Look(const std::vector<OpenSlot>& open, Time now);
  size_t left() const;  // open for too long, as of the last look

 private:
  struct Seen {
    Time since{};
    bool left = false;
  };
  Duration left_after_;
  std::map<Slot, Seen> seen_;
};

}  // namespace fanline::redis
