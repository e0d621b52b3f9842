// An answer as bytes of HTTP/1.1. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/message.h"

namespace fanline::http {

struct AnswerForm {
  bool head_only = false;   // to HEAD: gives the length but leaves out the body
  bool close = false;       // says that the connection is closed after it
  bool keep_alive = false;  // says that it stays open, to a client of HTTP/1.0
};

// `unix_seconds`: for the header Date.
std::string AnswerText(const Response& response, const AnswerForm& form, int64_t unix_seconds);

// "Not Found" for 404; empty for a status that we do not use.
std::string_view ReasonOf(int status);

}  // namespace fanline::http
