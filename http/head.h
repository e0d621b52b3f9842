// Reads the head of a request, strictly. A server behind a gateway must find the end of a request
// where the gateway finds it: if they differ, the body of one is an unchecked request for the
// other. So everything that RFC 9112 lets a server repair is refused here: a bare LF, a folded
// line, a blank before a colon, two lengths, a length and chunks. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "http/limits.h"
#include "http/message.h"

namespace fanline::http {

// Why a request is refused: the status to answer with, and words for the client. Its end is
// unknown, so the connection is closed after the answer.
struct Refusal {
  int status = 400;
  std::string detail;
};

struct Head {
  Request request;  // without its body
  bool keep_alive = true;
  bool http_1_0 = false;
  bool chunked = false;
  uint64_t length = 0;  // of the body when it is not chunked
  bool expects_100 = false;

  bool has_body() const { return chunked || length > 0; }
};

// `text`: from the first byte of the request line up to and including the empty line.
std::variant<Head, Refusal> ReadHead(std::string_view text, const Limits& limits);

// Finds the end of a head while its bytes come in, and refuses as soon as they cannot be one: a
// byte that has no place there, or a line or head beyond its bound.
class HeadScan {
 public:
  explicit HeadScan(const Limits& limits) : limits_(limits) {}

  enum class Found { kMore, kEnd, kRefused };
  // `bytes`: all since the request's first byte. Only new ones are looked at.
  Found Look(std::string_view bytes);

  size_t end() const { return at_; }  // with kEnd: bytes of the head
  const Refusal& refusal() const { return refusal_; }

 private:
  Found Refuse(int status, std::string detail);

  Limits limits_;
  size_t at_ = 0;
  size_t line_ = 0;  // where the line begins
  bool in_first_line_ = true;
  Refusal refusal_;
};

// A line of a trailer, without its end.
bool IsFieldLine(std::string_view line);

}  // namespace fanline::http
