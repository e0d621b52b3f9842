// The API's refusals: problem documents (RFC 9457) of type about:blank, so the title is the status
// in words. `code` is for programs and never changes; `detail` says what was wrong and what to do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/operations/bounds.h"
#include "fanline/base/outcome.h"
#include "fanline/base/time.h"
#include "http/message.h"

namespace fanline::api {

using http::Request;
using http::Response;

enum class Code {
  kBadRequest,
  kBadId,
  kSameUser,
  kBadParameter,
  kBadCursor,
  kBadBody,
  kTooManyIds,
  kOriginRefused,
  kNotFound,
  kMethodNotAllowed,
  kRequestTimeout,
  kFollowingLimit,
  kFriendshipConflict,
  kMuteLimit,
  kVersionNotReached,
  kMutesChanged,
  kBodyTooLarge,
  kUriTooLong,
  kUnsupportedMediaType,
  kExpectationFailed,
  kPreconditionRequired,
  kChangeLimit,
  kHeadersTooLarge,
  kInternal,
  kNotImplemented,
  kOverloaded,
  kLogUnavailable,
  kStoreUnavailable,
  kVersionNotSupported,
};

// What is wrong with one member of a body.
struct FieldProblem {
  std::string field;
  std::string detail;
};

struct Problem {
  Code code = Code::kInternal;
  std::string detail;
  std::string allow = {};  // of kMethodNotAllowed: the methods there are
  std::vector<FieldProblem> fields = {};
  int retry_after_seconds = kRetryAfterSeconds;  // said with 429 and 503
  std::string etag = {};                         // of kMutesChanged: of the list as it is
};

// Thrown to end an operation with a problem as its answer.
struct Refused {
  Problem problem;
};

std::string_view NameOf(Code code);  // "following_limit"

Response ToResponse(const Problem& problem);

// The problem for a status with which the HTTP server refuses a request before the API sees it.
// `detail`: what the server says of it.
Problem ProblemOfStatus(int status, const std::string& detail = {});

Problem StoreAway();
// `wait`: how long what waits is expected to take; 0: nobody knows.
Problem Overloaded(Duration wait = {});
// For a client that closed its side while its request waited. It may still read.
Problem ClientLeft();
// The problem for what a store did not do. Never is our fault.
Problem ProblemOf(const Status& failed);

}  // namespace fanline::api
