// One line of an edge list: `from<white space>to`, decimal; '#' begins a comment line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "fanline/ids.h"

namespace fanline::feedctl {

using Edge = std::pair<UserId, UserId>;  // from follows to

struct NoEdge {};  // an empty line or a comment
struct BadEdge {
  std::string reason;  // what was found and what it should be
};

// `id_offset` is added to both ids: graphs that count from 0 need 1. None: the command has no
// --id-offset, which is then not advised. Pure.
std::variant<Edge, NoEdge, BadEdge> ParseEdgeLine(std::string_view line,
                                                  std::optional<uint64_t> id_offset = std::nullopt);

}  // namespace fanline::feedctl
