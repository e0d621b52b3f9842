#include "backends/redis/client/errors.h"

namespace fanline::redis {
namespace {

constexpr ErrorMeaning kMeanings[] = {
    // The scripts' own.
    {"FENCED", Outcome::kLater, ErrorAction::kNeedsClaim},
    {"UNOWNED", Outcome::kLater, ErrorAction::kNeedsClaim},
    {"NOSCRIPT", Outcome::kLater, ErrorAction::kLoadScripts},
    // A replica, a node that is starting, one that lets us in no more or not far enough: what was
    // claimed here says nothing about the node that will answer next.
    {"READONLY", Outcome::kLater, ErrorAction::kLeaveNode},
    {"LOADING", Outcome::kLater, ErrorAction::kLeaveNode},
    {"MASTERDOWN", Outcome::kLater, ErrorAction::kLeaveNode},
    {"NOAUTH", Outcome::kLater, ErrorAction::kLeaveNode},
    {"WRONGPASS", Outcome::kLater, ErrorAction::kLeaveNode},
    {"NOPERM", Outcome::kLater, ErrorAction::kLeaveNode},
    // A node of a Cluster about one slot; its other slots go on. ASK is not followed by writers: a
    // script needs all keys of its range in one place.
    {"MOVED", Outcome::kLater, ErrorAction::kFollowMove},
    {"ASK", Outcome::kLater, ErrorAction::kHoldRange},
    {"TRYAGAIN", Outcome::kLater, ErrorAction::kHoldRange},
    {"CLUSTERDOWN", Outcome::kLater, ErrorAction::kAskForMap},
    // These pass, or an operator ends them.
    {"CROSSSLOT", Outcome::kLater, ErrorAction::kNone},
    {"OOM", Outcome::kLater, ErrorAction::kNone},
    {"BUSY", Outcome::kLater, ErrorAction::kNone},
    {"MISCONF", Outcome::kLater, ErrorAction::kNone},
    {"NOREPLICAS", Outcome::kLater, ErrorAction::kNone},
    // The same each time, until the key is gone.
    {"WRONGTYPE", Outcome::kNever, ErrorAction::kNone},
};
// NOPERM as a script passes it on: without its word. Of Redis up to 7.0, and since.
constexpr std::string_view kDeniedInScript[] = {"user executing the script can't run",
                                                "ACL failure in script"};
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
  for (const std::string_view words : kDeniedInScript) {
    if (error.find(words) != std::string_view::npos) return *Find("NOPERM");
  }
  return kUnknown;
}

Status StatusOf(const ErrorMeaning& meaning, std::string_view error) {
  if (error.empty()) error = "an error without a word";  // a status has a reason
  if (meaning.outcome == Outcome::kNever) return Status::Never(std::string(error));
  // The fence is no resource that is away: somebody else owns the range.
  const bool fenced = meaning.word == "FENCED";
  return Status::Later(fenced ? "fence" : kResource, std::string(error));
}

Status Away(std::string message) { return Status::Later(kResource, std::move(message)); }

Status UnexpectedAnswer(std::string_view script) {
  return Away("unexpected answer of script " + std::string(script));
}

}  // namespace fanline::redis
