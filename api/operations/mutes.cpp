// Whom a user mutes: the list, and its changes. The list's version is its ETag, so that of two
// devices which change it neither undoes what the other did. A change of one author is safe without
// If-Match: the store makes it to the list as it is then.
#include "api/operations/exchange.h"
#include "api/operations/json_body.h"
#include "fanline/base/number.h"

namespace fanline::api {
namespace {

constexpr const char* kForm = R"(; send {"muted": ["7", ...]})";

std::string EtagOf(uint64_t version) { return '"' + std::to_string(version) + '"'; }

// The version that the list must have; none: any. `needed`: the header must be there.
std::optional<uint64_t> ExpectedOf(const Asked& asked, bool needed) {
  std::string text = asked.if_match();
  // A proxy that compresses answers makes their ETags weak. A version is exact all the same.
  if (text.starts_with("W/")) text.erase(0, 2);
  if (text.empty() && needed) {
    throw Refused{{Code::kPreconditionRequired,
                   "without If-Match this could undo what another device did; send the ETag of the "
                   "list that it replaces, or * if it replaces any"}};
  }
  if (text.empty() || text == "*") return std::nullopt;
  const bool quoted = text.size() > 2 && text.front() == '"' && text.back() == '"';
  const auto version = ParseNumber<uint64_t>(text.substr(1, text.size() - 2));
  if (quoted && version && EtagOf(*version) == text) return version;
  throw Refused{
      {Code::kBadParameter, "If-Match is " + Quoted(text) +
                                "; send one ETag of an answer as it came, with its quotes, or *"}};
}

Json ToJson(const std::vector<UserId>& users) {
  Json ids = Json::array();
  for (const UserId user : users) ids.push_back(ToString(user));
  return ids;
}

void AnswerWith(Exchange& shards, const Json& body, uint64_t version) {
  Response response{.body = body.dump()};
  response.headers.emplace_back("ETag", EtagOf(version));
  shards.Answer(std::move(response));
}

// Whether nobody knows whom the user mutes; this is the answer then.
bool AnswersDamaged(Exchange& shards, UserId user, const Mutes& mutes) {
  if (!mutes.damaged) return false;
  const std::string detail = "the row of user " + ToString(user) +
                             " in the table mute is damaged: nobody knows whom it named; PUT the "
                             "whole list with If-Match: *, which replaces it";
  shards.Answer(ToResponse({Code::kInternal, detail}), Status::Never(detail));
  return true;
}

void OrRefuse(const MutesChanged& reply) {
  if (reply.conflicts) {
    throw Refused{{.code = Code::kMutesChanged,
                   .detail = "the list has changed: its ETag is " + EtagOf(reply.now.version) +
                             "; read it, and make the change to what it is now",
                   .etag = EtagOf(reply.now.version)}};
  }
  if (reply.over_limit) {
    throw Refused{{Code::kMuteLimit, "a user mutes at most " + std::to_string(kMostMuted) +
                                         " authors; unmute somebody first, or send fewer"}};
  }
}

// `answer`: what the body says besides the change.
Call Change(ChangeMutes change, std::function<Json(const Mutes&)> answer) {
  return {.work = Work::kChanges,
          .begin = [change = std::move(change), answer = std::move(answer)](Exchange& shards) {
            ChangeMutes request = change;
            request.unix_us = shards.unix_us();
            shards.Ask(std::move(request),
                       [&shards, answer, user = change.user](const MutesChanged& reply) {
                         OrFail(reply.status);
                         OrRefuse(reply);
                         if (AnswersDamaged(shards, user, reply.now)) return;
                         Json body = answer(reply.now);
                         body["changed"] = reply.changed;
                         body["version"] = std::to_string(reply.now.version);
                         AnswerWith(shards, body, reply.now.version);
                       });
          }};
}

Call ChangeOne(const Asked& asked, ChangeMutes::What what) {
  asked.Takes({});
  const EdgeKey pair = asked.Pair();
  return Change(
      {.user = pair.src, .what = what, .authors = {pair.dst}, .expected = ExpectedOf(asked, false)},
      [pair, what](const Mutes&) -> Json {
        return {{"user", ToString(pair.src)},
                {"other", ToString(pair.dst)},
                {"muted", what == ChangeMutes::What::kMute}};
      });
}

std::vector<UserId> ReadAuthors(const Asked& asked) {
  const nlohmann::json body = ParseObject(asked.body(), kForm);
  const auto refuse = [](const std::string& what) {
    throw Refused{{Code::kBadBody, what + kForm}};
  };
  for (const auto& [name, value] : body.items()) {
    if (name != "muted") refuse(Quoted(name) + " is not expected");
  }
  const auto muted = body.find("muted");
  if (muted == body.end() || !muted->is_array()) refuse("muted is no array");
  std::vector<UserId> authors;
  for (const nlohmann::json& value : *muted) {
    const auto id = NumberOf(value);
    if (!id) refuse(Shown(value) + " is no user id");
    if (UserId{*id} == asked.User()) {
      throw Refused{
          {Code::kSameUser, "users cannot mute themselves; leave user " + Shown(value) + " out"}};
    }
    authors.push_back(UserId{*id});
  }
  return authors;
}

}  // namespace

Call GetMutes(const Asked& asked) {
  asked.Takes({});
  const UserId user = asked.User();
  return {.begin = [user](Exchange& shards) {
    shards.Ask(ReadMutes{0, shards.map().ShardOf(user), user},
               [user, &shards](const MutesRead& reply) {
                 OrFail(reply.status);
                 if (AnswersDamaged(shards, user, reply.mutes)) return;
                 AnswerWith(shards,
                            {{"user", ToString(user)},
                             {"muted", ToJson(reply.mutes.authors)},
                             {"version", std::to_string(reply.mutes.version)}},
                            reply.mutes.version);
               });
  }};
}

Call PutMutes(const Asked& asked) {
  asked.Takes({});
  const UserId user = asked.User();
  return Change({.user = user,
                 .what = ChangeMutes::What::kReplace,
                 .authors = ReadAuthors(asked),
                 .expected = ExpectedOf(asked, true)},
                [user](const Mutes& now) -> Json {
                  return {{"user", ToString(user)}, {"muted", ToJson(now.authors)}};
                });
}

Call Mute(const Asked& asked) { return ChangeOne(asked, ChangeMutes::What::kMute); }
Call Unmute(const Asked& asked) { return ChangeOne(asked, ChangeMutes::What::kUnmute); }

}  // namespace fanline::api
