#include "api/operations/problem.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "fanline/base/check.h"
#include "http/answer.h"

namespace fanline::api {
namespace {

struct Entry {
  Code code;
  int status;
  std::string_view name;
};

constexpr Entry kTable[] = {
    {Code::kBadRequest, 400, "bad_request"},
    {Code::kBadId, 400, "bad_id"},
    {Code::kSameUser, 400, "same_user"},
    {Code::kBadParameter, 400, "bad_parameter"},
    {Code::kBadCursor, 400, "bad_cursor"},
    {Code::kBadBody, 400, "bad_body"},
    {Code::kTooManyIds, 400, "too_many_ids"},
    {Code::kOriginRefused, 403, "origin_refused"},
    {Code::kNotFound, 404, "not_found"},
    {Code::kMethodNotAllowed, 405, "method_not_allowed"},
    {Code::kRequestTimeout, 408, "request_timeout"},
    {Code::kFollowingLimit, 409, "following_limit"},
    {Code::kFriendshipConflict, 409, "friendship_conflict"},
    {Code::kMuteLimit, 409, "mute_limit"},
    {Code::kVersionNotReached, 412, "version_not_reached"},
    {Code::kMutesChanged, 412, "mutes_changed"},
    {Code::kBodyTooLarge, 413, "body_too_large"},
    {Code::kUriTooLong, 414, "uri_too_long"},
    {Code::kUnsupportedMediaType, 415, "unsupported_media_type"},
    {Code::kExpectationFailed, 417, "expectation_failed"},
    {Code::kPreconditionRequired, 428, "precondition_required"},
    {Code::kChangeLimit, 429, "change_limit"},
    {Code::kHeadersTooLarge, 431, "headers_too_large"},
    {Code::kInternal, 500, "internal"},
    {Code::kNotImplemented, 501, "not_implemented"},
    {Code::kOverloaded, 503, "overloaded"},
    {Code::kLogUnavailable, 503, "log_unavailable"},
    {Code::kStoreUnavailable, 503, "store_unavailable"},
    {Code::kVersionNotSupported, 505, "version_not_supported"},
};

const Entry& EntryOf(Code code) {
  for (const Entry& entry : kTable) {
    if (entry.code == code) return entry;
  }
  FANLINE_CHECK(false, "a code of the table");
}

// Of a status for which the server says no more.
std::string DetailOf(int status) {
  switch (status) {
    case 404:
      return "nothing is served at this path; openapi.yaml lists what there is";
    case 413:
      return "bodies are at most " + std::to_string(kMostBodyBytes) +
             " bytes; ask in several requests";
    case 503:
      return "too many clients are connected; come back later";
    default:
      return "the request was not finished; its log has the reason";
  }
}

}  // namespace

std::string_view NameOf(Code code) { return EntryOf(code).name; }

Response ToResponse(const Problem& problem) {
  const Entry& entry = EntryOf(problem.code);
  nlohmann::ordered_json body = {{"title", http::ReasonOf(entry.status)},
                                 {"status", entry.status},
                                 {"code", entry.name},
                                 {"detail", problem.detail}};
  for (const FieldProblem& each : problem.fields) {
    body["errors"].push_back({{"field", each.field}, {"detail", each.detail}});
  }
  Response response{.status = entry.status, .content_type = "application/problem+json"};
  // Details quote what clients sent, which may not be UTF-8.
  response.body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (entry.status == 429 || entry.status == 503) {
    response.headers.emplace_back("Retry-After", std::to_string(problem.retry_after_seconds));
  }
  if (!problem.allow.empty()) response.headers.emplace_back("Allow", problem.allow);
  if (!problem.etag.empty()) response.headers.emplace_back("ETag", problem.etag);
  return response;
}

// A status that the server answers by itself has one code, but 400 and 503, whose first it is.
Problem ProblemOfStatus(int status, const std::string& detail) {
  const auto* entry = std::find_if(std::begin(kTable), std::end(kTable),
                                   [status](const Entry& each) { return each.status == status; });
  if (entry == std::end(kTable)) entry = kTable;  // bad_request
  return {entry->code, detail.empty() ? DetailOf(status) : detail};
}

Problem StoreAway() {
  return {Code::kStoreUnavailable,
          "the part of the store that holds this cannot be reached; send it again later. A change "
          "may have been made all the same, and asking for it again is safe"};
}

Problem Overloaded(Duration wait) {
  const int64_t seconds = std::chrono::ceil<std::chrono::seconds>(wait).count();
  return {.code = Code::kOverloaded,
          .detail = "more requests came than can be served; send it again later",
          .retry_after_seconds = static_cast<int>(
              std::clamp<int64_t>(seconds, kRetryAfterSeconds, kMostRetryAfterSeconds))};
}

Problem ClientLeft() {
  return {
      Code::kRequestTimeout,
      "you closed your side of the connection while the request waited; keep it open until the "
      "answer comes. A change may have been made all the same, and asking for it again is safe"};
}

Problem ProblemOf(const Status& failed) {
  if (!failed.later()) return ProblemOfStatus(500);
  return failed.cause == Cause::kOverloaded ? Overloaded(failed.wait) : StoreAway();
}

}  // namespace fanline::api
