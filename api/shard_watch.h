// Which shards answer: each is asked once a second, and one that says no, or says nothing for two
// seconds, is away until it answers again. Requests for it are then refused at once instead of
// waiting for a timeout each, and /readyz says so, traffic or not. Passive; one thread.
//
// Only one question per shard is under way: a shard that hangs is not asked more.
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

  // Called when a shard goes away or comes back; the reason for people. First when it is known.
  using Sink = std::function<void(Shard shard, bool reachable, const std::string& reason)>;

  ShardWatch(Port<PingShard> probe, uint32_t shards, Sink sink)
      : probe_(probe), sink_(std::move(sink)), shards_(shards) {}

  // Answers when it is to be called again at the latest.
  Time Step(std::span<const ShardPinged> replies, Time now);

 private:
  struct State {
    uint64_t asked = 0;  // id of the question under way; 0: none
    Time asked_at{};
    Time ask_again{};
    std::optional<bool> reachable;
  };

  void Tell(Shard shard, bool reachable, const std::string& reason);

  const Port<PingShard> probe_;
  const Sink sink_;
  std::vector<State> shards_;
  uint64_t last_id_ = 0;
};

}  // namespace fanline::api
