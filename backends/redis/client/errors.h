// What an error of Redis means. One table maps its first word to what the caller must do and what
// becomes of the connection. Unknown words are kLater: a hint is never given up because of a word
// this table does not know. Pure.
#pragma once

#include <string>
#include <string_view>

#include "fanline/base/endpoint.h"
#include "fanline/base/outcome.h"

namespace fanline::redis {

inline constexpr const char* kResource = "redis";  // in Status::resource

// Why connections are lost, in words that Lost knows.
inline constexpr std::string_view kTlsRefused = "TLS: ";  // what follows says why
inline constexpr const char* kNoAnswer = "no answer in time";
inline constexpr const char* kClosed = "the node closed the connection";

enum class ErrorAction {
  kNone,         // the answer of this call, nothing else
  kLoadScripts,  // the node forgot the scripts: load them and send the call again
  kNeedsClaim,   // the fence: somebody else owns the range, or nobody does
  kLeaveNode,    // not the node we took it for: close, connect again, all claims are void
  kFollowMove,   // the slot is another node's: claims of its range on this one are void
  kHoldRange,    // the slot is between two nodes: its range waits until it has moved
  kAskForMap,    // who serves the slot is not settled: ask again
};

struct ErrorMeaning {
  std::string_view word;
  Outcome outcome;
  ErrorAction action;
  Cause cause = Cause::kOther;
  const char* advice = "";  // as Status::advice
};

// `error` is the text of an error reply, also one that a script passed on (Redis 6.2 puts the word
// behind "ERR Error running script (...): @user_script:12: ").
ErrorMeaning MeaningOf(std::string_view error);

// The Status for a reply of that meaning: kLater carries the resource.
Status StatusOf(const ErrorMeaning& meaning, std::string_view error);
Status Away(std::string message);  // kLater, kResource
// A connection was lost, or never made: "redis <node>: <why>". `tls`: it was to speak TLS.
Status Lost(const Endpoint& node, const std::string& why, bool tls);
// What was given, no server of that kind can take: the message says what to set.
Status Mistaken(std::string message);
// A script answered what it never answers: another version of it, or of Redis.
Status UnexpectedAnswer(std::string_view script);

}  // namespace fanline::redis
