// For tests: ends the process as SIGKILL would, right after the first acknowledgement of one kind,
// before anything can follow from it. Between any two of them a mirror may die, and nothing may get
// lost (tests/e2e/mirror_test.py).
#pragma once

#include <csignal>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "fanline/change_log.h"
#include "fanline/hint_log.h"
#include "fanline/reverse_edges.h"
#include "mirror/request_ids.h"

namespace fanline::mirror {

class DieAfter {
 public:
  static std::vector<std::string> Points() { return {"", "reverse", "hint", "msg2", "log1"}; }

  // "": never.
  explicit DieAfter(std::string point) : point_(std::move(point)) {}

  template <class Reply>
  void Look(const Reply& reply) const {
    if (point_.empty() || RequestIds::PartOf(reply.id) != Part::kApplier) return;
    if (reply.status.done() && point_ == PointOf<Reply>()) std::raise(SIGKILL);
  }

 private:
  template <class Reply>
  static constexpr const char* PointOf() {
    if constexpr (std::is_same_v<Reply, EdgesApplied>) return "reverse";
    if constexpr (std::is_same_v<Reply, HintsAppended>) return "hint";
    if constexpr (std::is_same_v<Reply, RelationsAppended>) return "msg2";
    if constexpr (std::is_same_v<Reply, MarkedDone>) return "log1";
    return "none";
  }

  const std::string point_;
};

}  // namespace fanline::mirror
