#include "http/answer.h"

#include <ctime>
#include <utility>

namespace fanline::http {
namespace {

std::string DateText(int64_t unix_seconds) {
  const std::time_t time = unix_seconds;
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

constexpr std::pair<int, std::string_view> kReasons[] = {
    {200, "OK"},
    {202, "Accepted"},
    {400, "Bad Request"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
};

}  // namespace

std::string_view ReasonOf(int status) {
  for (const auto& [known, reason] : kReasons) {
    if (known == status) return reason;
  }
  return "";  // RFC 9112, 4: clients do not look at it
}

std::string AnswerText(const Response& response, const AnswerForm& form, int64_t unix_seconds) {
  std::string text;
  text.reserve(256 + (form.head_only ? 0 : response.body.size()));
  const auto add = [&text](std::string_view name, std::string_view value) {
    text.append(name).append(": ").append(value).append("\r\n");
  };
  text.append("HTTP/1.1 ").append(std::to_string(response.status)).append(" ");
  text.append(ReasonOf(response.status)).append("\r\n");
  add("Date", DateText(unix_seconds));
  add("Content-Type", response.content_type);
  add("Content-Length", std::to_string(response.body.size()));
  for (const auto& [name, value] : response.headers) add(name, value);
  if (form.close) {
    add("Connection", "close");
  } else if (form.keep_alive) {
    add("Connection", "keep-alive");
  }
  text.append("\r\n");
  if (!form.head_only) text.append(response.body);
  return text;
}

}  // namespace fanline::http
