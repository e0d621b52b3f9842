// A batched check, {"ids": [...], "sides": "both"}. An error of one id is reported beside that id;
// an error of the body refuses the request.
#include <optional>

#include "api/operations/bounds.h"
#include "api/operations/call.h"
#include "api/operations/json_body.h"
#include "fanline/base/check.h"

namespace fanline::api {
namespace {

using nlohmann::json;

constexpr const char* kForm =
    R"(; send {"ids": [...], "sides": "both"}, where sides may be left out)";

[[noreturn]] void RefuseBody(const std::string& what) {
  throw Refused{{Code::kBadBody, what + kForm}};
}

Sides SidesOf(const json& value) {
  if (value == "following") return Sides::kFollowing;
  if (value == "followers") return Sides::kFollowers;
  if (value == "both") return Sides::kBoth;
  RefuseBody("sides is " + Shown(value) + "; there are following, followers, both");
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

std::vector<Item> ReadItems(const json& ids) {
  if (ids.size() > kMostItems) {
    throw Refused{{Code::kTooManyIds, std::to_string(ids.size()) + " ids at once; send at most " +
                                          std::to_string(kMostItems) + " per request"}};
  }
  std::vector<Item> items;
  for (const json& value : ids) items.push_back(ReadItem(value));
  return items;
}

Json ErrorOf(const Problem& problem) {
  return {{"error", {{"code", NameOf(problem.code)}, {"detail", problem.detail}}}};
}

Json AnswerOf(const Item& item, const CheckAnswer& answer) {
  if (item.bad) return ErrorOf(*item.bad);
  if (answer.error.empty()) return {{"relation", NameOf(answer.relation)}};
  return ErrorOf({Code::kVersionNotReached,
                  answer.error + "; send a version that an answer carried for this very relation"});
}

}  // namespace

Call CheckRelations(const Asked& asked) {
  asked.Takes({});
  const UserId user = asked.User();
  const json body = ParseObject(asked.body(), kForm);
  for (const auto& [name, value] : body.items()) {
    if (name != "ids" && name != "sides") RefuseBody(Quoted(name) + " is not expected");
  }
  const auto ids = body.find("ids");
  if (ids == body.end() || !ids->is_array()) RefuseBody("ids is no array");
  const Sides sides = body.contains("sides") ? SidesOf(body["sides"]) : Sides::kBoth;
  std::vector<Item> items = ReadItems(*ids);
  std::vector<UserId> owners = {user};
  for (Item& item : items) {
    const uint64_t id = item.item.user;
    if (id == Raw(user)) {
      item.bad = Problem{Code::kSameUser, "a user has no relation to themselves"};
    }
    // The forward rows are read when the mirror is behind the version.
    const bool looks = sides != Sides::kFollowing && item.item.min_version > 0;
    if (looks && IsValidId(id)) owners.push_back(UserId{id});
  }
  const auto perform = [user, sides, items = std::move(items)](RelationStore& store,
                                                               const Context&) -> Json {
    std::vector<CheckItem> asked_for;
    for (const Item& item : items) asked_for.push_back(item.item);
    std::vector<CheckAnswer> answers;
    OrFail(store.Check(user, asked_for, sides, &answers));
    FANLINE_CHECK(answers.size() == items.size(), "an answer for every item");
    Json all = Json::array();
    for (size_t i = 0; i < items.size(); ++i) all.push_back(AnswerOf(items[i], answers[i]));
    return {{"items", std::move(all)}};
  };
  return {std::move(owners), perform};
}

}  // namespace fanline::api
