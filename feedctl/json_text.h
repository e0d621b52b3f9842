// Objects within the one JSON object that a command prints. Pure; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "daemon/observe/json_fields.h"

namespace fanline::feedctl {

// `object`, with one more member at its end: `json`, which is JSON already.
std::string WithMember(std::string object, std::string_view name, std::string_view json);

// [one,two], where each is JSON already.
std::string JsonList(std::span<const std::string> values);

}  // namespace fanline::feedctl
