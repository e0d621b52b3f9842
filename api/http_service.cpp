#include "api/http_service.h"

#include "api/operations/bounds.h"
#include "api/operations/problem.h"

namespace fanline::api {

http::Limits HttpLimits(const Limits& limits) {
  http::Limits http;
  http.body = kMostBodyBytes;
  http.request_line = kMostRequestLineBytes;
  http.head = kMostHeadBytes;
  http.connections = limits.connections;
  http.threads = limits.threads + 1;  // each store keeps one of them at most
  return http;
}

http::Response HttpService::Refuse(int status, const std::string& detail) {
  Problem problem = ProblemOfStatus(status);
  if (!detail.empty()) problem.detail = detail;
  handler_.Refused(status);
  return ToResponse(problem);
}

}  // namespace fanline::api
