// Pings every shard of an application's own tables once a second, so that the adapter notices one
// that is away even while nothing is checked. Passive, not thread-safe.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "fanline/base/time.h"
#include "fanline/ports/port.h"
#include "fanline/ports/shard_probe.h"

namespace fanline::reconciler {

class AppShards {
 public:
  static constexpr Duration kEvery = std::chrono::seconds(1);

  AppShards(Port<PingShard> probe, Shard shards) : probe_(probe), asking_(shards, false) {}

  // Returns when to step again. A shard that has not answered is not asked again.
  [[nodiscard]] std::optional<Time> Step(std::span<const ShardPinged> replies, Now now) {
    for (const ShardPinged& reply : replies) asking_.at(reply.shard) = false;
    if (asking_.empty()) return std::nullopt;
    if (now.mono < ask_at_) return ask_at_;
    ask_at_ = now.mono + kEvery;
    for (Shard shard = 0; shard < asking_.size(); ++shard) {
      if (asking_[shard]) continue;
      asking_[shard] = true;
      probe_.Submit({++last_id_, shard});
    }
    return ask_at_;
  }

  void StopTaking() {}
  bool drained() const { return true; }

 private:
  const Port<PingShard> probe_;
  std::vector<bool> asking_;
  uint64_t last_id_ = 0;
  Time ask_at_{};
};

}  // namespace fanline::reconciler
