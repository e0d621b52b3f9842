#include "http/answer.h"

#include <cstdio>
#include <ctime>
#include <string_view>

namespace fanline::http {
namespace {

std::string DateText(int64_t unix_seconds) {
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t time = unix_seconds;
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[64];
  const int size = std::snprintf(text, sizeof text, "%s, %02d %s %04d %02d:%02d:%02d GMT",
                                 kDays[parts.tm_wday], parts.tm_mday, kMonths[parts.tm_mon],
                                 parts.tm_year + 1900, parts.tm_hour, parts.tm_min, parts.tm_sec);
  return std::string(text, static_cast<size_t>(size));
}

}  // namespace

std::string_view ReasonOf(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 202:
      return "Accepted";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "";  // RFC 9112, 4: clients do not look at it
  }
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

std::string ContinueText() { return "HTTP/1.1 100 Continue\r\n\r\n"; }

}  // namespace fanline::http
