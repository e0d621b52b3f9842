#include "api/door.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "api/operations/asked.h"

namespace fanline::api {
namespace {

bool IsJson(std::string_view given) {
  std::string type(given.substr(0, given.find(';')));
  while (!type.empty() && type.back() == ' ') type.pop_back();
  std::transform(type.begin(), type.end(), type.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return type == "application/json";
}

}  // namespace

std::optional<Problem> RefusedAtTheDoor(const Request& request,
                                        const std::vector<std::string>& allowed) {
  if (request.method == "GET" || request.method == "HEAD") return std::nullopt;
  const std::string& origin = request.origin;
  if (!origin.empty() && std::find(allowed.begin(), allowed.end(), origin) == allowed.end()) {
    return Problem{Code::kOriginRefused, "a page of " + Quoted(origin) +
                                             " may change nothing here; --allowed-origins lists "
                                             "those that may"};
  }
  const bool has_body = request.method == "POST" || request.method == "PATCH";
  if (has_body && !IsJson(request.content_type)) {
    return Problem{
        Code::kUnsupportedMediaType,
        "the content-type is " + Quoted(request.content_type) + "; send application/json"};
  }
  return std::nullopt;
}

bool IsOrigin(const std::string& text) {
  const size_t host = text.find("://");
  return (text.starts_with("http://") || text.starts_with("https://")) && host + 3 < text.size() &&
         std::all_of(text.begin() + static_cast<ptrdiff_t>(host) + 3, text.end(),
                     [](unsigned char c) {
                       return std::isdigit(c) != 0 || std::islower(c) != 0 ||
                              std::string_view("-._:[]").find(static_cast<char>(c)) !=
                                  std::string_view::npos;
                     });
}

}  // namespace fanline::api
