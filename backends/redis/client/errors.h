// What an error of Redis means. One table maps its first word to what the caller must do and what
// happens to the connection. Unknown words are kLater, so a hint is never given up because of an
// unknown word. Pure.
#pragma once

#include <string>
#include <string_view>

#include "fanline/base/endpoint.h"
#include "fanline/base/outcome.h"

namespace fanline::redis {

inline constexpr const char* kResource = "redis";  // in Status::resource

// Reasons for a lost connection that Lost knows.
inline constexpr std::string_view kTlsRefused = "TLS: ";  // the reason follows
inline constexpr const char* kNoAnswer = "no reply in time";
inline constexpr const char* kClosed = "the node closed the connection";

enum class ErrorAction {
  kNone,         // it concerns this call only
  kLoadScripts,  // the node forgot the scripts: load them and send the call again
  kNeedsClaim,   // the fence: somebody else owns the range, or nobody does
  kLeaveNode,    // not the node it was: close, connect again, all claims are void
  kFollowMove,   // the slot is another node's: claims of its range are void here
  kHoldRange,    // the slot is between two nodes: its range waits until it has moved
  kAskForMap,    // nobody serves the slot yet: ask for the map again
};

struct ErrorMeaning {
  std::string_view word;
  Outcome outcome;
  ErrorAction action;
  Cause cause = Cause::kOther;
  const char* advice = "";  // as Status::advice
};

// `error` is the text of an error reply, including one passed on by a script (Redis 6.2 puts the
// word after "ERR Error running script (...): @user_script:12: ").
ErrorMeaning MeaningOf(std::string_view error);

// The Status for an error with that meaning. A kLater carries the resource.
Status StatusOf(const ErrorMeaning& meaning, std::string_view error);
Status Away(std::string message);  // kLater, kResource
// A connection was lost or could not be made: "redis <node>: <why>". `tls`: it should speak TLS.
Status Lost(const Endpoint& node, const std::string& why, bool tls);
// The options do not fit the server; the message says what to set.
Status Mistaken(std::string message);
// A script's answer has an unknown shape: the script or Redis has another version.
Status UnexpectedAnswer(std::string_view script);

}  // namespace fanline::redis
