#include "fanline/ports/change_log.h"

#include "fanline/wire/relation_log.h"

namespace fanline {

std::optional<std::string> WhyDamaged(const LoggedChange& change) {
  const Edge& edge = change.edge;
  switch (change.kind) {
    case ChangeKind::kEdge:
    case ChangeKind::kFriendship: {
      const auto refused = WhyRefused({edge, change.id});
      return refused ? std::optional(refused->reason) : std::nullopt;
    }
    case ChangeKind::kMutes:
      if (IsValidId(Raw(edge.src)) && edge.dst == edge.src) return std::nullopt;
      return "src " + ToString(edge.src) + ", dst " + ToString(edge.dst) +
             ": send the user as both";
  }
  return "kind: found " + std::to_string(static_cast<int>(change.kind)) + "; send 1 to 3";
}

}  // namespace fanline
