#include "feedctl/capacity/followers_file.h"

#include <unordered_map>

#include "fanline/base/number.h"
#include "feedctl/relations/edge_line.h"

namespace fanline::feedctl {
namespace {

// Ids of a graph may count from 0; here they need only differ.
constexpr uint64_t kIdOffset = 1;

std::optional<uint64_t> CountIn(std::string_view line) {
  return ParseNumber<uint64_t>(line.substr(0, line.find_last_not_of(" \t\r") + 1));
}

}  // namespace

Followers ReadFollowers(LineReader& lines) {
  Followers followers;
  std::unordered_map<uint64_t, uint64_t> degrees;  // for an edge list: followers by user
  std::string_view line;
  while (lines.Next(&line)) {
    const auto count = degrees.empty() ? CountIn(line) : std::nullopt;
    if (count) {
      followers.Add(static_cast<double>(*count));
      continue;
    }
    const auto parsed = ParseEdgeLine(line, kIdOffset);
    if (const auto* bad = std::get_if<BadEdge>(&parsed)) throw lines.Bad(bad->reason);
    const auto* edge = std::get_if<EdgeKey>(&parsed);
    if (edge == nullptr) continue;
    if (followers.users() > 0) throw lines.Bad("an edge, where the lines before are counts");
    degrees.try_emplace(Raw(edge->src), 0);
    degrees[Raw(edge->dst)] += edge->src == edge->dst ? 0 : 1;
  }
  for (const auto& [user, degree] : degrees) followers.Add(static_cast<double>(degree));
  if (followers.users() == 0) throw Failure(kExitData, lines.name() + ": names nobody");
  return followers;
}

}  // namespace fanline::feedctl
