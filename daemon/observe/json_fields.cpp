#include "daemon/observe/json_fields.h"

#include <nlohmann/json.hpp>

#include "daemon/options/redact.h"

namespace fanline::daemon {
namespace {

using nlohmann::ordered_json;

// Every integer up to here is exact for a reader that knows doubles only.
constexpr int64_t kExactInteger = int64_t{1} << 53;

struct ToJson {
  ordered_json operator()(bool value) const { return value; }
  ordered_json operator()(double value) const { return value; }
  ordered_json operator()(int64_t value) const {
    if (value > kExactInteger || value < -kExactInteger) return std::to_string(value);
    return value;
  }
  ordered_json operator()(uint64_t value) const {
    if (value > static_cast<uint64_t>(kExactInteger)) return std::to_string(value);
    return value;
  }
  ordered_json operator()(FieldValue::Id id) const { return std::to_string(id.raw); }
  ordered_json operator()(std::string_view given) const {
    const std::string text = Redact(given);
    if (text.size() <= kMaxFieldBytes) return text;
    return text.substr(0, kMaxFieldBytes) + "... (" + std::to_string(text.size()) + " bytes)";
  }
};

}  // namespace

std::string JsonObject(std::span<const Field> fields) {
  ordered_json object = ordered_json::object();
  for (const Field& field : fields) {
    const std::string key(field.key);
    object[object.contains(key) ? key + "_" : key] = std::visit(ToJson{}, field.value.variant());
  }
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace fanline::daemon
