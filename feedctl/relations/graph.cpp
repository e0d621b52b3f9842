#include "feedctl/relations/graph.h"

#include <algorithm>

#include "feedctl/support/line_reader.h"

namespace fanline::feedctl {

std::variant<EdgeKey, NoEdge, BadEdge> Graph::AddLine(std::string_view line, uint64_t id_offset) {
  auto parsed = ParseEdgeLine(line, id_offset);
  if (const auto* edge = std::get_if<EdgeKey>(&parsed)) {
    if (edge->src == edge->dst) {
      alone_.push_back(edge->src);
    } else {
      edges_.push_back(*edge);
    }
  }
  return parsed;
}

std::vector<UserId> Graph::Users() const {
  std::vector<UserId> users = alone_;
  users.reserve(users.size() + 2 * edges_.size());
  for (const auto& [from, to] : edges_) {
    users.push_back(from);
    users.push_back(to);
  }
  std::sort(users.begin(), users.end());
  users.erase(std::unique(users.begin(), users.end()), users.end());
  return users;
}

Graph ReadGraph(LineReader& lines, uint64_t id_offset,
                const std::function<void(uint64_t)>& progress) {
  Graph graph;
  std::string_view line;
  while (lines.Next(&line)) {
    const auto added = graph.AddLine(line, id_offset);
    if (const auto* bad = std::get_if<BadEdge>(&added)) throw lines.Bad(bad->reason);
    if (lines.number() % 4096 == 0) progress(lines.number());
  }
  return graph;
}

}  // namespace fanline::feedctl
