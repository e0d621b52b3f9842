// A graph to be imported: the edges of a file, and authors added to it whom many follow.
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
  // One more line; BadEdge when it is none. Edges to oneself are counted and left out.
  [[nodiscard]] std::variant<EdgeKey, NoEdge, BadEdge> AddLine(std::string_view line,
                                                               uint64_t id_offset);

  // Everybody in the graph, ascending, each once: both ends of every edge, also of edges to
  // oneself.
  [[nodiscard]] std::vector<UserId> Users() const;

  // `author` is followed by every n-th of `users`, from the first on, but not by himself. Returns
  // by how many, and adds those edges that are not there yet.
  uint64_t AddAuthor(UserId author, const std::vector<UserId>& users, uint64_t every_nth);

  const std::vector<EdgeKey>& edges() const { return edges_; }  // as given, repeated ones too
  uint64_t to_oneself() const { return alone_.size(); }

 private:
  std::vector<EdgeKey> edges_;
  std::vector<UserId> alone_;  // of edges to oneself
};

// Failure 65, naming file and line, for what is no edge list. `progress` hears of lines.
Graph ReadGraph(LineReader& lines, uint64_t id_offset,
                const std::function<void(uint64_t)>& progress);

}  // namespace fanline::feedctl
