// How an operation reads a JSON body, strictly.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace fanline::api {

// Parses an object. Refuses all else, and a member that is given twice: the library would silently
// keep the last. `send` ends the refusal: "; send {...}".
nlohmann::json ParseObject(const std::string& body, std::string_view send);

// A value for a message. A nested one is named, not shown: the library would recurse as deep as it
// is nested.
std::string Shown(const nlohmann::json& value);

// A decimal string, or an integer that no reader with doubles has rounded; not 0.
std::optional<uint64_t> NumberOf(const nlohmann::json& value);

}  // namespace fanline::api
