// A user id given on the command line.
#pragma once

#include <string>

#include "fanline/model/ids.h"
#include "feedctl/support/failure.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {

// `where`: the option or argument, for the message. Failure 64.
inline UserId RequireUserId(const std::string& where, const std::string& text) {
  const auto raw = ParseId(text);
  if (!raw) {
    throw Failure(kExitUsage,
                  where + ": " + QuotedShort(text) + " is no user id: a number from 1 to 2^64-2");
  }
  return UserId{*raw};
}

}  // namespace fanline::feedctl
