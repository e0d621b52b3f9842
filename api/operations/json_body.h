// How an operation reads a JSON body, strictly.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace fanline::api {

// Parses an object. Refuses anything else. Also refuses a member that is given twice, because the
// library would silently keep the last one. `send` ends the refusal: "; send {...}".
nlohmann::json ParseObject(const std::string& body, std::string_view send);

// A value for a message. A nested value is only named: the library would recurse as deep as it is
// nested.
std::string Shown(const nlohmann::json& value);

// A decimal string, or an integer small enough to be exact as a double; not 0.
std::optional<uint64_t> NumberOf(const nlohmann::json& value);

}  // namespace fanline::api
