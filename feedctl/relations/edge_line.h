// One line of an edge list: two decimal ids, `from to`; '#' begins a comment line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "fanline/model/edge.h"

namespace fanline::feedctl {

struct NoEdge {};  // an empty line or a comment
struct BadEdge {
  std::string reason;  // what was found and what was expected
};

// The first id follows the second. `id_offset` is added to both: graphs that count from 0 need 1.
// Pure.
std::variant<EdgeKey, NoEdge, BadEdge> ParseEdgeLine(std::string_view line, uint64_t id_offset);

}  // namespace fanline::feedctl
