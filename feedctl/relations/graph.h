// A graph to be imported: the edges of a file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fanline/model/edge.h"

namespace fanline::feedctl {

class LineReader;

struct NoEdge {};  // an empty line or a comment
struct BadEdge {
  std::string reason;  // what was found and what was expected
};

struct FileEdge {
  EdgeKey key;
  std::optional<Delivery> delivery = {};  // none: the line says nothing of it
  friend bool operator==(const FileEdge&, const FileEdge&) = default;
};

// One line of an edge list: two decimal ids, `from to`, and perhaps the name of a delivery; '#'
// begins a comment line. The first id follows the second. `id_offset` is added to both: graphs that
// count from 0 need 1. Pure.
std::variant<FileEdge, NoEdge, BadEdge> ParseEdgeLine(std::string_view line, uint64_t id_offset);

class Graph {
 public:
  // Edges from a user to themselves are counted and left out.
  void Add(const FileEdge& edge);

  // All users in the graph, ascending, each once: both ends of every edge, including those left
  // out.
  [[nodiscard]] std::vector<UserId> Users() const;

  const std::vector<FileEdge>& edges() const { return edges_; }  // as given, with repetitions
  uint64_t to_oneself() const { return alone_.size(); }

 private:
  std::vector<FileEdge> edges_;
  std::vector<UserId> alone_;  // of edges from a user to themselves
};

// Failure 65, naming file and line, if it is not an edge list. `progress` gets the lines read.
Graph ReadGraph(LineReader& lines, uint64_t id_offset,
                const std::function<void(uint64_t)>& progress);

}  // namespace fanline::feedctl
