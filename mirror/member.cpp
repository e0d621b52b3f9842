#include "mirror/member.h"

#include <type_traits>
#include <utility>
#include <vector>

namespace fanline::mirror {

Progress Member::Step(std::span<MemberInput> inputs, Now now) {
  std::vector<RelationEventInput> of_events;
  std::vector<MirrorInput> of_mirror;
  const auto sort = [&](auto& input) {
    using Input = std::decay_t<decltype(input)>;
    if constexpr (std::is_same_v<Input, MirrorInput>) {
      of_mirror.push_back(std::move(input));
    } else if constexpr (std::is_same_v<Input, RelationEventInput>) {
      of_events.push_back(std::move(input));
    } else if constexpr (std::is_same_v<Input, Record>) {
      of_events.emplace_back(std::move(input));
    } else {  // a partition
      of_events.emplace_back(input);
      of_mirror.emplace_back(input);
    }
  };
  for (MemberInput& input : inputs) std::visit(sort, input);
  Progress progress = events_.Step(of_events, now);
  progress.StepBy(mirror_.Step(of_mirror, now).next_timer);
  return progress;
}

void Member::StopTaking() {
  events_.StopTaking();
  mirror_.StopTaking();
}

}  // namespace fanline::mirror
