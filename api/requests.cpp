#include "api/requests.h"

#include <algorithm>
#include <initializer_list>
#include <limits>

#include "api/check_body.h"
#include "api/limits.h"
#include "api/values.h"

namespace fanline::api {
namespace {

// The first problem met ends the reading: thrown here, caught in ReadCall, never outside.
struct Refused {
  Problem problem;
};

template <typename T>
T OrRefuse(std::variant<T, Problem> read) {
  if (auto* problem = std::get_if<Problem>(&read)) throw Refused{std::move(*problem)};
  return std::get<T>(std::move(read));
}

// The query's parameters, each known and given once.
class Params {
 public:
  Params(const Request& request, std::initializer_list<std::string_view> known)
      : given_(request.params) {
    for (const auto& [name, value] : given_) {
      if (std::find(known.begin(), known.end(), name) == known.end()) RefuseUnknown(name, known);
      if (std::count_if(given_.begin(), given_.end(),
                        [&](const auto& other) { return other.first == name; }) > 1) {
        throw Refused{{Code::kBadParameter, name + " is given twice; send it once"}};
      }
    }
  }

  const std::string* Find(std::string_view name) const {
    for (const auto& [given, value] : given_) {
      if (given == name) return &value;
    }
    return nullptr;
  }

  uint64_t Number(std::string_view name, uint64_t otherwise, uint64_t max) const {
    const std::string* text = Find(name);
    return text == nullptr ? otherwise : OrRefuse(ReadNumber(*text, name, 1, max));
  }

 private:
  [[noreturn]] static void RefuseUnknown(const std::string& name,
                                         std::initializer_list<std::string_view> known) {
    std::string there_are;
    for (const std::string_view each : known) {
      there_are += (there_are.empty() ? "there are " : ", ") + std::string(each);
    }
    throw Refused{{Code::kBadParameter, Quoted(name) + " is no parameter of this path; " +
                                            (known.size() == 0 ? "it takes none" : there_are)}};
  }

  const std::vector<std::pair<std::string, std::string>>& given_;
};

UserId IdInPath(const RouteMatch& match, size_t segment) {
  return OrRefuse(ReadId(match.segments[segment], "the path"));
}

// The user and the other of a path that names two.
EdgeKey PairInPath(const RouteMatch& match) {
  const EdgeKey pair{IdInPath(match, 0), IdInPath(match, 1)};
  if (pair.src != pair.dst) return pair;
  throw Refused{{Code::kSameUser, "the path names user " + ToString(pair.src) +
                                      " twice; a relation is between two users"}};
}

FollowCall ReadFollow(const RouteMatch& match, const Request& request, bool live) {
  const Params none(request, {});
  return {PairInPath(match), live};
}

RelationCall ReadRelation(const RouteMatch& match, const Request& request) {
  const Params params(request, {"min_version"});
  const EdgeKey pair = PairInPath(match);
  return {pair.src, pair.dst,
          params.Number("min_version", 0, std::numeric_limits<uint64_t>::max() - 1)};
}

FriendAction ReadAction(const std::string& text) {
  if (const auto action = ParseFriendAction(text)) return *action;
  throw Refused{{Code::kNotFound, Quoted(text) + " cannot be done to a friendship; there are "
                                                 "request, accept, refuse, cancel, remove"}};
}

FriendshipCall ReadFriendship(const RouteMatch& match, const Request& request) {
  const Params none(request, {});
  FriendshipCall call;
  if (match.segments.size() > 2) call.action = ReadAction(match.segments[2]);
  const EdgeKey pair = PairInPath(match);
  call.user = pair.src;
  call.other = pair.dst;
  return call;
}

ListCall ReadList(const RouteMatch& match, const Request& request, UserList list) {
  const Params params(request, {"limit", "cursor", "relation_to"});
  ListCall call;
  call.list = list;
  call.user = IdInPath(match, 0);
  call.limit = static_cast<uint32_t>(params.Number("limit", kDefaultPerPage, kMostPerPage));
  if (const std::string* text = params.Find("cursor")) {
    call.after = ParseListCursor(*text);
    if (!call.after) {
      throw Refused{{Code::kBadCursor, Quoted(*text) + " is no cursor; send next_cursor of the "
                                                       "page before as it came, or none"}};
    }
  }
  if (const std::string* text = params.Find("relation_to")) {
    call.relation_to = OrRefuse(ReadId(*text, "relation_to"));
  }
  return call;
}

bool IsJson(std::string_view content_type) {
  std::string type(content_type.substr(0, content_type.find(';')));
  while (!type.empty() && type.back() == ' ') type.pop_back();
  std::transform(type.begin(), type.end(), type.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return type == "application/json";
}

CheckCall ReadCheck(const RouteMatch& match, const Request& request) {
  const Params none(request, {});
  CheckCall call;
  call.user = IdInPath(match, 0);
  if (!IsJson(request.content_type)) {
    throw Refused{
        {Code::kUnsupportedMediaType,
         "the body's content-type is " + Quoted(request.content_type) + "; send application/json"}};
  }
  if (auto problem = ReadCheckBody(request.body, &call)) throw Refused{std::move(*problem)};
  for (size_t i = 0; i < call.items.size(); ++i) {
    if (call.items[i].user != Raw(call.user)) continue;
    call.bad[i] = Problem{Code::kSameUser, "a user has no relation to themselves"};
  }
  return call;
}

FamiliarCall ReadFamiliar(const RouteMatch& match, const Request& request) {
  const Params params(request, {"limit"});
  const EdgeKey pair = PairInPath(match);
  return {pair.src, pair.dst,
          static_cast<uint32_t>(params.Number("limit", kDefaultPerPage, kMostPerPage))};
}

CountsCall ReadCounts(const RouteMatch& match, const Request& request) {
  const Params none(request, {});
  return {IdInPath(match, 0)};
}

Call Read(const RouteMatch& match, const Request& request) {
  switch (match.route->operation) {
    case Operation::kFollow:
      return ReadFollow(match, request, true);
    case Operation::kUnfollow:
      return ReadFollow(match, request, false);
    case Operation::kGetRelation:
      return ReadRelation(match, request);
    case Operation::kListFollowing:
      return ReadList(match, request, UserList::kFollowing);
    case Operation::kListFollowers:
      return ReadList(match, request, UserList::kFollowers);
    case Operation::kListFriends:
      return ReadList(match, request, UserList::kFriends);
    case Operation::kGetFriendship:
    case Operation::kChangeFriendship:
      return ReadFriendship(match, request);
    case Operation::kCheckRelations:
      return ReadCheck(match, request);
    case Operation::kListFamiliarFollowers:
      return ReadFamiliar(match, request);
    case Operation::kGetCounts:
      return ReadCounts(match, request);
  }
  throw Refused{ProblemOfStatus(404)};
}

}  // namespace

std::variant<Call, Problem> ReadCall(const RouteMatch& match, const Request& request) {
  try {
    return Read(match, request);
  } catch (Refused& refused) {
    return std::move(refused.problem);
  }
}

}  // namespace fanline::api
