// The applier of the messages of relation-log, and the relay of the shards whose partition this
// mirror owns. Both share one consumer and one thread.
// Passive: no thread, no clock, no sleep. Not thread-safe.
#pragma once

#include <span>
#include <variant>

#include "mirror/applier.h"
#include "mirror/relay.h"

namespace fanline::mirror {

using MirrorInput =
    std::variant<PartitionAssigned, PartitionRevoked, Record, ApplierReply, RelayReply>;

class Mirror {
 public:
  struct Ports {
    Applier::Ports applier;
    Relay::Ports relay;
  };
  struct Setup {
    RangeLayout layout{16};
    ShardMap shards = ShardMap::Even(1);
    uint32_t partitions = 8;  // of relation-log
    uint64_t seed = 1;        // of the jitter
  };

  Mirror(const Ports& ports, const Setup& setup, const Limits& limits)
      : applier_(ports.applier, {setup.layout, setup.shards, setup.seed}, limits),
        relay_(ports.relay, {setup.shards, setup.partitions, setup.seed}, limits) {}

  [[nodiscard]] Progress Step(std::span<MirrorInput> inputs, Now now);

  // From now on nothing more is started (SIGTERM); keep stepping until drained().
  void StopTaking();
  bool drained() const { return applier_.drained() && relay_.drained(); }

 private:
  void Route(PartitionAssigned& assigned, Now now);
  void Route(PartitionRevoked& revoked, Now now);
  void Route(Record& record, Now now) { applier_.On(record, now); }
  void Route(ApplierReply& reply, Now now) { applier_.On(reply, now); }
  void Route(RelayReply& reply, Now now) { relay_.On(reply, now); }

  Applier applier_;
  Relay relay_;
};

}  // namespace fanline::mirror
