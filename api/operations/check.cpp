// A batched check, {"ids": [...], "sides": "both"}. An error of one id is reported beside that id;
// an error of the body refuses the request.
//
// Who follows the user is read from reverse rows, which lag a moment behind. Where one is older
// than an item's `min_version`, the forward row is read: from all shards at once that hold such
// rows.
#include <map>
#include <memory>
#include <optional>

#include "api/operations/bounds.h"
#include "api/operations/exchange.h"
#include "api/operations/json_body.h"

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
  UserId user{};
  uint64_t min_version = 0;  // the answer must know this version of the edge from `user`; 0: any
  std::optional<Problem> bad = {};
  Standing standing = {};  // as far as it was read
};

Item BadId(const json& value) {
  return {.bad = Problem{Code::kBadId, Shown(value) +
                                           " is no user id; ids are decimal strings from \"1\" to "
                                           "\"18446744073709551614\", or integers up to 2^53-1"}};
}

// {"id": ..., "min_version": ...}
Item ReadObject(const json& value) {
  for (const auto& [name, member] : value.items()) {
    if (name == "id" || name == "min_version") continue;
    return {.bad = Problem{Code::kBadBody, Quoted(name) + " is no member of an item; there are id "
                                                          "and min_version"}};
  }
  const auto found = value.find("id");
  const auto id = found != value.end() ? NumberOf(*found) : std::nullopt;
  if (!id) return found != value.end() ? BadId(*found) : BadId(json());
  Item read{.user = UserId{*id}};
  if (!value.contains("min_version")) return read;
  const auto version = NumberOf(value["min_version"]);
  if (!version) {
    return {.bad = Problem{Code::kBadBody, "min_version is " + Shown(value["min_version"]) +
                                               "; send the version an answer carried, as it came"}};
  }
  read.min_version = *version;
  return read;
}

Item ReadItem(const json& value) {
  if (value.is_object()) return ReadObject(value);
  const auto id = NumberOf(value);
  return id ? Item{.user = UserId{*id}} : BadId(value);
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

Json AnswerOf(const Item& item, Sides sides) {
  if (item.bad) return ErrorOf(*item.bad);
  if (sides != Sides::kFollowing && item.standing.follower.ver < item.min_version) {
    return ErrorOf({Code::kVersionNotReached,
                    "there is no such version; send a version that an answer carried for this very "
                    "relation"});
  }
  return {{"relation", NameOf(item.standing.relation())}};
}

struct Check {
  UserId user{};
  Sides sides = Sides::kBoth;
  std::vector<Item> items = {};
  size_t under_way = 0;  // requests for forward rows
};
using Shared = std::shared_ptr<Check>;

void AnswerWith(const Check& check, Exchange& shards) {
  Json all = Json::array();
  for (const Item& item : check.items) all.push_back(AnswerOf(item, check.sides));
  shards.Answer({{"items", std::move(all)}});
}

void ReadForwardRows(const Shared& check, const std::vector<Item*>& behind, Exchange& shards) {
  ReadForward request{.shard = shards.map().ShardOf(behind.front()->user)};
  for (const Item* item : behind) request.edges.push_back({item->user, check->user});
  ++check->under_way;
  shards.Ask(std::move(request), [check, behind, &shards](const ForwardRead& read) {
    OrFail(read.status);
    for (size_t i = 0; i < behind.size(); ++i) {
      if (read.states.at(i).ver > 0) behind[i]->standing.follower = read.states[i];
    }
    if (--check->under_way == 0) AnswerWith(*check, shards);
  });
}

void CatchUp(const Shared& check, Exchange& shards) {
  std::map<Shard, std::vector<Item*>> behind;
  for (Item& item : check->items) {
    if (item.bad || item.standing.follower.ver >= item.min_version) continue;
    behind[shards.map().ShardOf(item.user)].push_back(&item);
  }
  if (behind.empty()) return AnswerWith(*check, shards);
  for (const auto& [shard, items] : behind) ReadForwardRows(check, items, shards);
}

void Begin(const Shared& check, Exchange& shards) {
  CheckUsers request{.user = check->user, .sides = check->sides};
  for (const Item& item : check->items) {
    if (!item.bad) request.others.push_back(item.user);
  }
  shards.Ask(std::move(request), [check, &shards](const UsersChecked& checked) {
    OrFail(checked.status);
    auto standing = checked.standings.begin();
    for (Item& item : check->items) {
      if (!item.bad) item.standing = *standing++;
    }
    if (check->sides == Sides::kFollowing) return AnswerWith(*check, shards);
    CatchUp(check, shards);
  });
}

}  // namespace

Call CheckRelations(const Asked& asked) {
  asked.Takes({});
  Check check{.user = asked.User()};
  const json body = ParseObject(asked.body(), kForm);
  for (const auto& [name, value] : body.items()) {
    if (name != "ids" && name != "sides") RefuseBody(Quoted(name) + " is not expected");
  }
  const auto ids = body.find("ids");
  if (ids == body.end() || !ids->is_array()) RefuseBody("ids is no array");
  if (body.contains("sides")) check.sides = SidesOf(body["sides"]);
  check.items = ReadItems(*ids);
  for (Item& item : check.items) {
    if (item.user != check.user) continue;
    item.bad = Problem{Code::kSameUser, "a user has no relation to themselves"};
  }
  return {.begin = [check = std::move(check)](Exchange& shards) {
    Begin(std::make_shared<Check>(check), shards);
  }};
}

}  // namespace fanline::api
