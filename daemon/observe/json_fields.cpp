#include "daemon/observe/json_fields.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "daemon/options/redact.h"

namespace fanline::daemon {
namespace {

using nlohmann::ordered_json;

// Every integer up to here is exact for a reader that knows doubles only.
constexpr int64_t kExactInteger = int64_t{1} << 53;

struct ToJson {
  ordered_json operator()(bool value) const { return value; }
  ordered_json operator()(double value) const { return value; }
  ordered_json operator()(std::integral auto value) const {
    const bool exact =
        std::cmp_less_equal(value, kExactInteger) && std::cmp_greater_equal(value, -kExactInteger);
    return exact ? ordered_json(value) : ordered_json(std::to_string(value));
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
