// fanline-mirror, wired by its own main.cpp, that ends as by SIGKILL at the first acknowledgement
// of one kind to its applier, before it acts on it: DIE_AFTER=reverse, hint, msg2 or log1. A mirror
// may die between any two of them, and nothing may get lost (mirror_test.py).
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
      const auto* reply = std::get_if<ApplierReply>(&input);
      if (reply != nullptr) std::visit([](const auto& each) { Look(each); }, *reply);
    }
    return Mirror::Step(inputs, now);
  }

 private:
  template <class Reply>
  static void Look(const Reply& reply) {
    constexpr std::string_view kPoint = std::is_same_v<Reply, EdgesApplied>        ? "reverse"
                                        : std::is_same_v<Reply, HintsAppended>     ? "hint"
                                        : std::is_same_v<Reply, RelationsAppended> ? "msg2"
                                        : std::is_same_v<Reply, MarkedDone>        ? "log1"
                                                                                   : "";
    if constexpr (!kPoint.empty()) {
      if (reply.status.done() && kPoint == std::getenv("DIE_AFTER")) std::raise(SIGKILL);
    }
  }
};

}  // namespace fanline::mirror

#define Mirror DyingMirror
#include "mirror/main.cpp"
