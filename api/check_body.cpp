#include "api/check_body.h"

#include <nlohmann/json.hpp>
#include <set>

#include "api/limits.h"
#include "api/values.h"

namespace fanline::api {
namespace {

using nlohmann::json;

constexpr uint64_t kMostExact = (uint64_t{1} << 53) - 1;
constexpr const char* kForm =
    R"(; send {"ids": [...], "sides": "both"}, where sides may be left out)";

Problem BadBody(const std::string& what) { return {Code::kBadBody, what + kForm}; }

// Nothing when it is not JSON. *twice: a member that is given twice, of which the library would
// keep the last without a word.
json Parse(const std::string& body, std::string* twice) {
  std::set<std::string> seen;
  const auto look = [&](int depth, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::key && depth == 1) {
      const auto name = parsed.get<std::string>();
      if (!seen.insert(name).second) *twice = name;
    }
    return true;
  };
  return json::parse(body, look, false);
}

std::optional<Sides> SidesOf(const json& value) {
  if (value == "following") return Sides::kFollowing;
  if (value == "followers") return Sides::kFollowers;
  if (value == "both") return Sides::kBoth;
  return std::nullopt;
}

// What is nested is named and not shown: the library would go down into it, as deep as it is.
std::string Shown(const json& value) {
  if (value.is_array()) return "an array";
  if (value.is_object()) return "an object";
  return Quoted(value.is_string() ? value.get_ref<const std::string&>()
                                  : value.dump(-1, ' ', false, json::error_handler_t::replace));
}

// A decimal string, or an integer that no reader with doubles has rounded.
std::optional<uint64_t> NumberOf(const json& value) {
  if (value.is_string()) return ParseId(value.get_ref<const std::string&>());
  if (!value.is_number_unsigned()) return std::nullopt;
  const auto number = value.get<uint64_t>();
  if (number == 0 || number > kMostExact) return std::nullopt;
  return number;
}

struct Item {
  CheckItem item;
  std::optional<Problem> bad;
};

Item BadId(const json& value) {
  return {
      {},
      Problem{Code::kBadId, Shown(value) + " is no user id; ids are decimal strings from \"1\" to "
                                           "\"18446744073709551614\", or integers up to 2^53-1"}};
}

// {"id": ..., "min_version": ...}
Item ReadObject(const json& value) {
  for (const auto& [name, member] : value.items()) {
    if (name == "id" || name == "min_version") continue;
    return {{},
            Problem{Code::kBadBody, Quoted(name) + " is no member of an item; there are id "
                                                   "and min_version"}};
  }
  const auto found = value.find("id");
  const auto id = found != value.end() ? NumberOf(*found) : std::nullopt;
  if (!id) return found != value.end() ? BadId(*found) : BadId(json());
  Item read{{.user = *id}, {}};
  if (!value.contains("min_version")) return read;
  const auto version = NumberOf(value["min_version"]);
  if (!version) {
    return {{},
            Problem{Code::kBadBody, "min_version is " + Shown(value["min_version"]) +
                                        "; send the version an answer carried, as it came"}};
  }
  read.item.min_version = *version;
  return read;
}

Item ReadItem(const json& value) {
  if (value.is_object()) return ReadObject(value);
  const auto id = NumberOf(value);
  return id ? Item{{.user = *id}, {}} : BadId(value);
}

}  // namespace

std::optional<Problem> ReadCheckBody(const std::string& body, CheckCall* call) {
  std::string twice;
  const json parsed = Parse(body, &twice);
  if (parsed.is_discarded()) return BadBody("the body is no JSON");
  if (!parsed.is_object()) return BadBody("the body is no JSON object");
  if (!twice.empty()) return BadBody(Quoted(twice) + " is given twice");
  for (const auto& [name, value] : parsed.items()) {
    if (name != "ids" && name != "sides") return BadBody(Quoted(name) + " is not expected");
  }
  const auto ids = parsed.find("ids");
  if (ids == parsed.end() || !ids->is_array()) return BadBody("ids is no array");
  if (const auto sides = parsed.find("sides"); sides != parsed.end()) {
    const auto known = SidesOf(*sides);
    if (!known) {
      return BadBody("sides is " + Shown(*sides) + "; there are following, followers, both");
    }
    call->sides = *known;
  }
  if (ids->size() > kMostItems) {
    return Problem{Code::kTooManyIds, std::to_string(ids->size()) + " ids at once; send at most " +
                                          std::to_string(kMostItems) + " per request"};
  }
  for (const json& value : *ids) {
    Item read = ReadItem(value);
    call->items.push_back(read.item);
    call->bad.push_back(std::move(read.bad));
  }
  return std::nullopt;
}

}  // namespace fanline::api
