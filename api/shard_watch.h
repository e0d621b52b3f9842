// Finds out which shards answer: asks each once a second. A shard that refuses, or is silent for
// two seconds, is away until it answers again. Its requests are then refused at once instead of
// each waiting for a timeout, and /readyz names it, traffic or not; the others' users are served,
// so the API stays ready. Passive; one thread.
//
// Only one question per shard is under way: a shard that hangs is not asked again.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fanline/base/time.h"
#include "fanline/ports/port.h"
#include "fanline/ports/shard_probe.h"

namespace fanline::api {

class ShardWatch {
 public:
  static constexpr Duration kEvery = std::chrono::seconds(1);
  static constexpr Duration kPatience = std::chrono::seconds(2);

  // Called with a shard's first known state and with each change, also of the reason why it is
  // away, which is for people.
  using Sink = std::function<void(Shard shard, bool reachable, const std::string& reason)>;

  ShardWatch(Port<PingShard> probe, uint32_t shards, Sink sink)
      : probe_(probe), sink_(std::move(sink)), shards_(shards) {}

  // Answers the latest time of its next call.
  Time Step(std::span<const ShardPinged> replies, Time now);

 private:
  struct State {
    uint64_t asked = 0;  // id of the question under way; 0: none
    Time asked_at{};
    Time ask_again{};
    std::optional<bool> reachable;
    std::string reason;  // while it is away
  };

  void Tell(Shard shard, bool reachable, const std::string& reason);

  const Port<PingShard> probe_;
  const Sink sink_;
  std::vector<State> shards_;
  uint64_t last_id_ = 0;
};

}  // namespace fanline::api
