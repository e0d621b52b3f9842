// fanline-mirror, wired by its own main.cpp, but that it ends as by SIGKILL at the first
// acknowledgement of one kind to its applier, before anything follows from it: DIE_AFTER=reverse,
// hint, msg2 or log1. Between any two of them a mirror may die, and nothing may get lost
// (mirror_test.py).
#include <csignal>
#include <cstdlib>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>

#include "mirror/mirror.h"

namespace fanline::mirror {

class DyingMirror : public Mirror {
 public:
  using Mirror::Mirror;
  [[nodiscard]] Progress Step(std::span<MirrorInput> inputs, Now now) {
    for (const MirrorInput& input : inputs) {
      std::visit([](const auto& each) { Look(each); }, input);
    }
    return Mirror::Step(inputs, now);
  }

 private:
  template <class Input>
  static void Look(const Input& input) {
    constexpr std::string_view kPoint = std::is_same_v<Input, EdgesApplied>        ? "reverse"
                                        : std::is_same_v<Input, HintsAppended>     ? "hint"
                                        : std::is_same_v<Input, RelationsAppended> ? "msg2"
                                        : std::is_same_v<Input, MarkedDone>        ? "log1"
                                                                                   : "";
    if constexpr (!kPoint.empty()) {
      const bool of_applier = RequestIds::PartOf(input.id) == Part::kApplier;
      if (of_applier && input.status.done() && kPoint == std::getenv("DIE_AFTER")) {
        std::raise(SIGKILL);
      }
    }
  }
};

}  // namespace fanline::mirror

#define Mirror DyingMirror
#include "mirror/main.cpp"
