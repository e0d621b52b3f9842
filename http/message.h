// A request and its answer as a Service sees them, without framing.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fanline::http {

struct Request {
  std::string method;
  std::string path;                                         // without the query
  std::vector<std::pair<std::string, std::string>> params;  // the query's, decoded
  std::string content_type;                                 // empty: none was sent
  std::string body;
  std::string if_match;  // the header, as it came; empty: none
  std::string origin;    // the page for which a browser sends it; empty: none
  // False once the client has closed its side; most want no answer then. Null: nobody watches it.
  std::shared_ptr<const std::atomic<bool>> alive = {};
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

}  // namespace fanline::http
