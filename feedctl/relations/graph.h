// A graph to be imported: the edges of a file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "feedctl/relations/edge_line.h"

namespace fanline::feedctl {

class LineReader;

class Graph {
 public:
  // Adds a line; BadEdge when it is not an edge. Edges from a user to themselves are counted and
  // left out.
  [[nodiscard]] std::variant<EdgeKey, NoEdge, BadEdge> AddLine(std::string_view line,
                                                               uint64_t id_offset);

  // All users in the graph, ascending, each once: both ends of every edge, including those left
  // out.
  [[nodiscard]] std::vector<UserId> Users() const;

  const std::vector<EdgeKey>& edges() const { return edges_; }  // as given, with repetitions
  uint64_t to_oneself() const { return alone_.size(); }

 private:
  std::vector<EdgeKey> edges_;
  std::vector<UserId> alone_;  // of edges from a user to themselves
};

// Failure 65, naming file and line, if it is not an edge list. `progress` gets the lines read.
Graph ReadGraph(LineReader& lines, uint64_t id_offset,
                const std::function<void(uint64_t)>& progress);

}  // namespace fanline::feedctl
