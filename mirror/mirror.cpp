#include "mirror/mirror.h"

namespace fanline::mirror {

Progress Mirror::Step(std::span<MirrorInput> inputs, Now now) {
  for (MirrorInput& input : inputs) {
    std::visit([&](auto& each) { Route(each, now); }, input);
  }
  Progress progress = applier_.Send(now);
  progress.StepBy(relay_.Send(now));
  return progress;
}

void Mirror::Route(PartitionAssigned& assigned, Now now) {
  applier_.On(assigned);
  relay_.On(assigned, now);
}

void Mirror::Route(PartitionRevoked& revoked, Now) {
  applier_.On(revoked);
  relay_.On(revoked);
}

void Mirror::StopTaking() {
  applier_.StopTaking();
  relay_.StopTaking();
}

}  // namespace fanline::mirror
