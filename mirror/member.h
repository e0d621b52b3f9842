// A member of the group that reads the relation events. Its partitions decide two things: which
// events it writes as forward rows, and which forward shards' log1 it mirrors.
// Passive: no thread, no clock, no sleep. Not thread-safe.
#pragma once

#include <span>
#include <variant>

#include "fanline/consuming/consumer.h"
#include "fanline/model/record.h"
#include "mirror/mirror.h"
#include "mirror/relation_event_consumer.h"

namespace fanline::mirror {

// A reply is an input of the part that asked.
using MemberInput =
    std::variant<PartitionAssigned, PartitionRevoked, Record, RelationEventInput, MirrorInput>;

class Member {
 public:
  // Both outlive this.
  Member(RelationEventConsumer& events, Mirror& mirror) : events_(events), mirror_(mirror) {}

  [[nodiscard]] Progress Step(std::span<MemberInput> inputs, Now now);

  // From now on nothing more is started (SIGTERM); keep stepping until drained().
  void StopTaking();
  bool drained() const { return events_.drained() && mirror_.drained(); }

 private:
  RelationEventConsumer& events_;
  Mirror& mirror_;
};

}  // namespace fanline::mirror
