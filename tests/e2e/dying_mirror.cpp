// fanline-mirror, wired by its own main.cpp, that ends as by SIGKILL at the first acknowledgement
// of one kind to its mirror, before it acts on it: DIE_AFTER=msg1, reverse, hint, msg2 or log1. A
// mirror may die between any two of them, and nothing may get lost (mirror_test.py).
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
  [[nodiscard]] Progress Step(std::span<const MirrorInput> inputs, Now now) {
    for (const MirrorInput& input : inputs) {
      std::visit([this](const auto& each) { Look(each); }, input);
    }
    return Mirror::Step(inputs, now);
  }

 private:
  template <class Reply>
  void Look(const Reply& reply) {
    std::string_view point;
    if constexpr (std::is_same_v<Reply, EdgesApplied>) point = "reverse";
    if constexpr (std::is_same_v<Reply, HintsAppended>) point = "hint";
    if constexpr (std::is_same_v<Reply, RelationsAppended>) point = hinted_ ? "msg2" : "msg1";
    if constexpr (std::is_same_v<Reply, MarkedDone>) point = "log1";
    if constexpr (requires { reply.status; }) {
      if (!reply.status.done()) return;
      if (point == std::getenv("DIE_AFTER")) std::raise(SIGKILL);
      if (point == "hint") hinted_ = true;
    }
  }

  bool hinted_ = false;
};

}  // namespace fanline::mirror

#define Mirror DyingMirror
#include "mirror/main.cpp"
