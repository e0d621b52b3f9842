// What a command prints with --json: one object in one line. Ids and versions are decimal strings,
// since JSON readers may round large numbers.
#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace fanline::feedctl {

using Json = nlohmann::ordered_json;

// Bytes that are not UTF-8 become U+FFFD.
inline std::string ToLine(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

inline void PutJson(const Json& object) { std::fputs(ToLine(object).c_str(), stdout); }

}  // namespace fanline::feedctl
