// What the caller must do after an outside call, whatever failed inside it. Every answer of
// Kafka, Redis and the shards maps to one of the three in the adapter's one table.
#pragma once

#include <cstdint>
#include <string>

#include "fanline/base/time.h"

namespace fanline {

enum class Outcome {
  kDone,   // acknowledged; go on
  kLater,  // not done, or not known to be done (a timed-out call may have been applied): park
           // what waits for it, naming the resource, and try again with back-off
  kNever,  // will fail the same way each time: quarantine, with the reason
};

// Why something is not done, as far as a person can do anything about it.
enum class Cause {
  kOther,
  kAway,        // the service cannot be reached
  kTurnedAway,  // it refuses our credentials, so it will refuse every other request too
  kNoLogin,     // it was given a name or a password, and wants none
  kSetting,     // it answers, but an operator has to set something right first
  kFull,        // it has no memory left
  kOverloaded,  // more is asked of it than it can answer in time
  kLocked,      // it is well; another transaction holds a row of this request
};

// A call whose answer is ignored does not compile.
struct [[nodiscard]] Status {
  Outcome outcome = Outcome::kDone;
  // kLater: the resource that is away, of a small fixed set (a metric label): "redis",
  // "mysql_0", "kafka". kNever: empty.
  std::string resource;
  std::string message;  // for a log line or a dead letter's reason
  Cause cause = Cause::kOther;
  // What a person may do about it, unless the message says so itself. A literal.
  const char* advice = "";
  // kOverloaded: how long what waits for it is expected to take; 0: nobody knows yet.
  Duration wait{};

  bool done() const { return outcome == Outcome::kDone; }
  bool later() const { return outcome == Outcome::kLater; }
  bool never() const { return outcome == Outcome::kNever; }

  static Status Done() { return {}; }
  static Status Later(std::string resource, std::string message) {
    return {Outcome::kLater, std::move(resource), std::move(message)};
  }
  static Status Never(std::string message) { return {Outcome::kNever, {}, std::move(message)}; }
};

// The reply to a request of which there is nothing to say but whether it was done.
template <class Request>
struct Acknowledged {
  uint64_t id = 0;
  Status status;
};

}  // namespace fanline
