#include "api/operations/problem.h"

#include <nlohmann/json.hpp>

#include "api/operations/bounds.h"
#include "fanline/base/check.h"

namespace fanline::api {
namespace {

struct Entry {
  Code code;
  int status;
  std::string_view name;
  std::string_view title;
};

constexpr Entry kTable[] = {
    {Code::kBadRequest, 400, "bad_request", "This is no HTTP request"},
    {Code::kBadId, 400, "bad_id", "This is no id"},
    {Code::kSameUser, 400, "same_user", "One user in both places"},
    {Code::kBadParameter, 400, "bad_parameter", "A parameter is wrong"},
    {Code::kBadCursor, 400, "bad_cursor", "This is no cursor of the API"},
    {Code::kBadBody, 400, "bad_body", "The body is not what is expected"},
    {Code::kTooManyIds, 400, "too_many_ids", "Too many ids at once"},
    {Code::kNotFound, 404, "not_found", "There is nothing of that path"},
    {Code::kMethodNotAllowed, 405, "method_not_allowed", "Not by this method"},
    {Code::kRequestTimeout, 408, "request_timeout", "The request took too long to arrive"},
    {Code::kFollowingLimit, 409, "following_limit", "Follows as many users as there may be"},
    {Code::kFriendshipConflict, 409, "friendship_conflict", "Not as things stand between them"},
    {Code::kVersionNotReached, 412, "version_not_reached", "The relation has no such version"},
    {Code::kBodyTooLarge, 413, "body_too_large", "The body is too large"},
    {Code::kUriTooLong, 414, "uri_too_long", "The request line is too long"},
    {Code::kUnsupportedMediaType, 415, "unsupported_media_type", "The body is not JSON"},
    {Code::kExpectationFailed, 417, "expectation_failed", "What is expected is not known"},
    {Code::kHeadersTooLarge, 431, "headers_too_large", "The headers are too large"},
    {Code::kInternal, 500, "internal", "A fault of the server"},
    {Code::kNotImplemented, 501, "not_implemented", "This is not known here"},
    {Code::kOverloaded, 503, "overloaded", "Too many requests at once"},
    {Code::kLogUnavailable, 503, "log_unavailable", "Kafka is away"},
    {Code::kStoreUnavailable, 503, "store_unavailable", "A part of the store is away"},
    {Code::kVersionNotSupported, 505, "version_not_supported", "This HTTP is not spoken here"},
};

const Entry& EntryOf(Code code) {
  for (const Entry& entry : kTable) {
    if (entry.code == code) return entry;
  }
  FANLINE_CHECK(false, "a code of the table");
}

}  // namespace

std::string_view NameOf(Code code) { return EntryOf(code).name; }
int StatusOf(Code code) { return EntryOf(code).status; }

Response ToResponse(const Problem& problem) {
  const Entry& entry = EntryOf(problem.code);
  nlohmann::ordered_json body = {{"title", entry.title},
                                 {"status", entry.status},
                                 {"code", entry.name},
                                 {"detail", problem.detail}};
  for (const FieldProblem& each : problem.fields) {
    body["errors"].push_back({{"field", each.field}, {"detail", each.detail}});
  }
  Response response;
  response.status = entry.status;
  response.content_type = "application/problem+json";
  // Details quote what clients sent, which need not be UTF-8.
  response.body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (entry.status == 503) {
    response.headers.emplace_back("Retry-After", std::to_string(kRetryAfterSeconds));
  }
  if (!problem.allow.empty()) response.headers.emplace_back("Allow", problem.allow);
  return response;
}

Problem ProblemOfStatus(int status) {
  switch (status) {
    case 404:
      return {Code::kNotFound, "nothing is served at this path; openapi.yaml lists what there is"};
    case 408:
      return {Code::kRequestTimeout, "send the request without pausing"};
    case 413:
      return {Code::kBodyTooLarge, "bodies are at most " + std::to_string(kMostBodyBytes) +
                                       " bytes; ask in several requests"};
    case 414:
      return {Code::kUriTooLong,
              "a request line is at most " + std::to_string(kMostRequestLineBytes) + " bytes"};
    case 415:
      return {Code::kUnsupportedMediaType, "send application/json"};
    case 417:
      return {Code::kExpectationFailed, "nothing can be expected but 100-continue"};
    case 431:
      return {Code::kHeadersTooLarge,
              "the headers are at most " + std::to_string(kMostHeadBytes) + " bytes"};
    case 500:
      return {Code::kInternal, "the request was not finished; its log has the reason"};
    case 501:
      return {Code::kNotImplemented, "no such method or transfer coding is known"};
    case 503:
      return {Code::kOverloaded, "too many clients are connected; come back later"};
    case 505:
      return {Code::kVersionNotSupported, "send HTTP/1.1"};
    default:
      return {Code::kBadRequest, "the request cannot be read; send HTTP/1.1"};
  }
}

Problem StoreAway() {
  return {Code::kStoreUnavailable,
          "the part of the store that holds this cannot be reached; send it again later. A change "
          "may have been made all the same, and asking for it again is safe"};
}

}  // namespace fanline::api
