// What the API answers when it does not do what it was asked: a problem document (RFC 9457), whose
// `code` is for programs and never changes, and whose `detail` says what was wrong and what to do.
#pragma once

#include <string>
#include <string_view>

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
  kNotFound,
  kMethodNotAllowed,
  kRequestTimeout,
  kFollowingLimit,
  kFriendshipConflict,
  kVersionNotReached,
  kBodyTooLarge,
  kUriTooLong,
  kUnsupportedMediaType,
  kExpectationFailed,
  kHeadersTooLarge,
  kInternal,
  kNotImplemented,
  kOverloaded,
  kStoreUnavailable,
  kVersionNotSupported,
};

struct Problem {
  Code code = Code::kInternal;
  std::string detail;
  std::string allow = {};  // of kMethodNotAllowed: the methods there are
};

// Ends an operation with a problem for its answer; the handler catches it.
struct Refused {
  Problem problem;
};

std::string_view NameOf(Code code);  // "following_limit"
int StatusOf(Code code);

Response ToResponse(const Problem& problem);

// Of an answer the HTTP server gives by itself, before the API has seen the request: the problem
// that says the same.
Problem ProblemOfStatus(int status);

Problem StoreAway();

}  // namespace fanline::api
