#include "mirror/mirror.h"

namespace fanline::mirror {

Progress Mirror::Step(std::span<MirrorInput> inputs, Now now) {
  for (MirrorInput& input : inputs) Route(input, now);
  Progress progress = applier_.Send(now);
  progress.StepBy(relay_.Send(now));
  return progress;
}

void Mirror::Route(MirrorInput& input, Now now) {
  if (auto* assigned = std::get_if<PartitionAssigned>(&input)) {
    applier_.On(*assigned);
    relay_.On(*assigned, now);
  } else if (auto* revoked = std::get_if<PartitionRevoked>(&input)) {
    applier_.On(*revoked);
    relay_.On(*revoked);
  } else if (auto* relations = std::get_if<RelationsAppended>(&input)) {
    const bool relayed = RequestIds::PartOf(relations->id) == Part::kRelay;
    relayed ? relay_.On(*relations, now) : applier_.On(*relations, now);
  } else if (auto* marked = std::get_if<MarkedDone>(&input)) {
    const bool relayed = RequestIds::PartOf(marked->id) == Part::kRelay;
    relayed ? relay_.On(*marked, now) : applier_.On(*marked, now);
  } else if (auto* read = std::get_if<PendingRead>(&input)) {
    const bool relayed = RequestIds::PartOf(read->id) == Part::kRelay;
    relayed ? relay_.On(*read, now) : applier_.On(*read, now);
  } else if (auto* purged = std::get_if<PurgedDone>(&input)) {
    relay_.On(*purged, now);
  } else if (auto* changed = std::get_if<EdgeChanged>(&input)) {
    relay_.On(*changed, now);
  } else if (auto* record = std::get_if<Record>(&input)) {
    applier_.On(*record, now);
  } else if (auto* applied = std::get_if<EdgesApplied>(&input)) {
    applier_.On(*applied, now);
  } else if (auto* hinted = std::get_if<HintsAppended>(&input)) {
    applier_.On(*hinted, now);
  } else {
    applier_.On(std::get<DeadLetterAppended>(input), now);
  }
}

void Mirror::StopTaking() {
  applier_.StopTaking();
  relay_.StopTaking();
}

}  // namespace fanline::mirror
