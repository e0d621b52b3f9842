#include "backends/redis/client/errors.h"

#include <utility>

namespace fanline::redis {
namespace {

constexpr const char* kLogin = "set --redis-user and --redis-password-file (or --redis-password)";
constexpr const char* kRights = "let --redis-user do what schemas/redis/README.md lists";

constexpr ErrorMeaning kDenied = {"NOPERM", Outcome::kLater, ErrorAction::kLeaveNode,
                                  Cause::kSetting, kRights};
constexpr ErrorMeaning kMeanings[] = {
    // From our scripts.
    {"FENCED", Outcome::kLater, ErrorAction::kNeedsClaim},
    {"UNOWNED", Outcome::kLater, ErrorAction::kNeedsClaim},
    {"NOSCRIPT", Outcome::kLater, ErrorAction::kLoadScripts},
    // A replica, a node that is starting, or one that denies us access. Claims made here do not
    // hold on the node that answers next.
    {"READONLY", Outcome::kLater, ErrorAction::kLeaveNode},
    {"LOADING", Outcome::kLater, ErrorAction::kLeaveNode},
    {"MASTERDOWN", Outcome::kLater, ErrorAction::kLeaveNode},
    {"NOAUTH", Outcome::kLater, ErrorAction::kLeaveNode, Cause::kTurnedAway, kLogin},
    {"WRONGPASS", Outcome::kLater, ErrorAction::kLeaveNode, Cause::kTurnedAway, kLogin},
    kDenied,
    // About one slot of a Cluster's node; its other slots go on. Writers do not follow ASK: a
    // script needs all keys of its range in one place.
    {"MOVED", Outcome::kLater, ErrorAction::kFollowMove},
    {"ASK", Outcome::kLater, ErrorAction::kHoldRange},
    {"TRYAGAIN", Outcome::kLater, ErrorAction::kHoldRange},
    {"CLUSTERDOWN", Outcome::kLater, ErrorAction::kAskForMap},
    // Passes, or an operator ends it, like many that are unknown here.
    {"OOM", Outcome::kLater, ErrorAction::kNone, Cause::kFull},
    // Permanent until the key is deleted.
    {"WRONGTYPE", Outcome::kNever, ErrorAction::kNone},
};
constexpr ErrorMeaning kForbidden = {
    "ERR", Outcome::kLater, ErrorAction::kNone, Cause::kSetting,
    "take a server that has the commands which schemas/redis/README.md lists"};
// Texts without such a word, or behind "ERR", like a hundred others.
constexpr std::pair<std::string_view, ErrorMeaning> kPhrases[] = {
    // NOPERM as a script passes it on: up to Redis 7.0, and later.
    {"user executing the script can't run", kDenied},
    {"ACL failure in script", kDenied},
    // Renamed by its operator, or left out of a managed service. The last is a script's.
    {"nknown command", kForbidden},
    {"nknown subcommand", kForbidden},
    {"nknown Redis command", kForbidden},
    {"without any password configured",
     {"ERR", Outcome::kLater, ErrorAction::kNone, Cause::kNoLogin,
      "leave --redis-password out, or give the server one"}},
};
constexpr ErrorMeaning kUnknown = {"", Outcome::kLater, ErrorAction::kNone};

const ErrorMeaning* Find(std::string_view text) {
  const std::string_view word = text.substr(0, text.find(' '));
  for (const ErrorMeaning& meaning : kMeanings) {
    if (meaning.word == word) return &meaning;
  }
  return nullptr;
}

}  // namespace

ErrorMeaning MeaningOf(std::string_view error) {
  if (const auto* meaning = Find(error)) return *meaning;
  // "... : WORD text": the word a script passed on.
  for (size_t at = error.find(": "); at != std::string_view::npos; at = error.find(": ", at + 1)) {
    if (const auto* meaning = Find(error.substr(at + 2))) return *meaning;
  }
  for (const auto& [words, meaning] : kPhrases) {
    if (error.find(words) != std::string_view::npos) return meaning;
  }
  return kUnknown;
}

Status StatusOf(const ErrorMeaning& meaning, std::string_view error) {
  if (error.empty()) error = "an error without a word";  // a status has a reason
  if (meaning.outcome == Outcome::kNever) return Status::Never(std::string(error));
  // The fence means that somebody else owns the range, not that Redis is away.
  const bool fenced = meaning.word == "FENCED";
  Status status = Status::Later(fenced ? "fence" : kResource, std::string(error));
  status.cause = meaning.cause;
  status.advice = meaning.advice;
  return status;
}

Status Away(std::string message) { return Status::Later(kResource, std::move(message)); }

Status Lost(const Endpoint& node, const std::string& why, bool tls) {
  Status status = Away("redis " + ToString(node) + ": " + why);
  if (const ErrorMeaning refused = MeaningOf(why); refused.cause != Cause::kOther) {
    status.cause = refused.cause;
    status.advice = refused.advice;
  } else if (why.starts_with(kTlsRefused)) {
    status.cause = Cause::kSetting;
    status.advice = "set --redis-tls-ca to who signed its certificate";
  } else {
    status.cause = Cause::kAway;
    status.advice = "start it or set --redis / FANLINE_REDIS";
    // A server that expects TLS closes a plain connection; a server without TLS waits for the end
    // of a line.
    if (tls && why == kNoAnswer) {
      status.advice =
          "start it or set --redis / FANLINE_REDIS; if it speaks no TLS, leave --redis-tls-ca out";
    } else if (!tls && why == kClosed) {
      status.advice =
          "start it or set --redis / FANLINE_REDIS; if it speaks TLS only, set --redis-tls-ca";
    }
  }
  return status;
}

Status Mistaken(std::string message) {
  Status status = Away(std::move(message));
  status.cause = Cause::kSetting;
  return status;
}

Status UnexpectedAnswer(std::string_view script) {
  return Away("unexpected answer of script " + std::string(script));
}

}  // namespace fanline::redis
