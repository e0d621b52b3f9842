// Single values of requests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "api/problem.h"
#include "fanline/ids.h"

namespace fanline::api {

// For a message: in quotes, cut when it is long.
std::string Quoted(std::string_view text);

// `where` for the message: "the path", "relation_to".
std::variant<UserId, Problem> ReadId(std::string_view text, std::string_view where);

// min .. max, in its one decimal spelling.
std::variant<uint64_t, Problem> ReadNumber(std::string_view text, std::string_view parameter,
                                           uint64_t min, uint64_t max);

}  // namespace fanline::api
