#include "api/operations/json_body.h"

#include <map>
#include <set>

#include "api/operations/asked.h"
#include "fanline/model/ids.h"

namespace fanline::api {

using nlohmann::json;

namespace {

constexpr uint64_t kMostExact = (uint64_t{1} << 53) - 1;

}  // namespace

json ParseObject(const std::string& body, std::string_view send) {
  std::map<int, std::set<std::string>> seen;  // members of the objects around, by depth
  std::string twice;
  const auto look = [&](int depth, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) seen[depth + 1].clear();
    if (event == json::parse_event_t::key) {
      const auto name = parsed.get<std::string>();
      if (!seen[depth].insert(name).second) twice = name;
    }
    return true;
  };
  const auto refuse = [&](const std::string& what) {
    throw Refused{{Code::kBadBody, what + std::string(send)}};
  };
  json parsed = json::parse(body, look, false);
  if (parsed.is_discarded()) refuse("the body is no JSON");
  if (!parsed.is_object()) refuse("the body is no JSON object");
  if (!twice.empty()) refuse(Quoted(twice) + " is given twice");
  return parsed;
}

std::string Shown(const json& value) {
  if (value.is_array()) return "an array";
  if (value.is_object()) return "an object";
  return Quoted(value.is_string() ? value.get_ref<const std::string&>()
                                  : value.dump(-1, ' ', false, json::error_handler_t::replace));
}

std::optional<uint64_t> NumberOf(const json& value) {
  if (value.is_string()) return ParseId(value.get_ref<const std::string&>());
  if (!value.is_number_unsigned()) return std::nullopt;
  const auto number = value.get<uint64_t>();
  if (number == 0 || number > kMostExact) return std::nullopt;
  return number;
}

}  // namespace fanline::api
