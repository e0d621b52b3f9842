// What a mirror does with relation-log: the applier of its messages, and the relay of the shards
// whose partition it owns. One consumer, one thread; each reply goes to whoever asked.
// Passive: no thread, no clock, no sleep. Not thread-safe.
#pragma once

#include <span>
#include <variant>

#include "mirror/applier.h"
#include "mirror/relay.h"

namespace fanline::mirror {

using MirrorInput = std::variant<PartitionAssigned, PartitionRevoked, Record, EdgesApplied,
                                 EdgeChanged, HintsAppended, RelationsAppended, DeadLetterAppended,
                                 PendingRead, MarkedDone, PurgedDone>;

class Mirror {
 public:
  struct Ports {
    ReverseStore& reverse;
    ForwardStore& forward;
    ChangeStore& log;
    HintLog& hints;
    RelationLog& relations;
    DeadLetters& dead_letters;
    Metrics& metrics;
  };
  struct Setup {
    RangeLayout layout{16};
    ShardMap shards = ShardMap::Even(1);
    uint32_t partitions = 8;  // of relation-log
    uint64_t seed = 1;        // of the jitter
  };

  Mirror(const Ports& ports, const Setup& setup, const Limits& limits)
      : applier_({ports.reverse, ports.hints, ports.relations, ports.log, ports.dead_letters,
                  ports.metrics},
                 {setup.layout, setup.shards, setup.seed}, limits),
        relay_({ports.log, ports.relations, ports.forward, ports.metrics},
               {setup.shards, setup.partitions, setup.seed}, limits) {}

  [[nodiscard]] Progress Step(std::span<MirrorInput> inputs, Now now);

  // From now on nothing more is started (SIGTERM); keep stepping until drained().
  void StopTaking();
  bool drained() const { return applier_.drained() && relay_.drained(); }

 private:
  void Route(MirrorInput& input, Now now);

  Applier applier_;
  Relay relay_;
};

}  // namespace fanline::mirror
