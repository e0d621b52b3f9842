// How a command fails: one line that says what to do, and an exit code of sysexits.h. Any part of
// feedctl throws it; main.cpp catches it.
#pragma once

#include <stdexcept>
#include <string>

#include "daemon/options/options.h"
#include "fanline/model/ids.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {

using daemon::kExitConfig;
using daemon::kExitTempFail;
using daemon::kExitUsage;
inline constexpr int kExitFound = 1;          // a comparison found differences
inline constexpr int kExitData = 65;          // the input is wrong
inline constexpr int kExitNoInput = 66;       // a file cannot be opened
inline constexpr int kExitNoUser = 67;        // the user is unknown
inline constexpr int kExitUnavailable = 69;   // a service is away or refuses
inline constexpr int kExitIo = 74;            // reading or writing failed
inline constexpr int kExitInterrupted = 130;  // Ctrl-C

class Failure : public std::runtime_error {
 public:
  Failure(int exit_code, const std::string& message)
      : std::runtime_error(message), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

// For rules about several options: throws unless `problem` is empty.
inline void RequireUsage(const std::string& problem) {
  if (!problem.empty()) throw Failure(kExitUsage, problem);
}

// A user id of the command line. `where`: its argument, for the message. Failure 64.
inline UserId RequireUserId(const std::string& where, const std::string& text) {
  const auto raw = ParseId(text);
  if (!raw) {
    throw Failure(kExitUsage,
                  where + ": " + QuotedShort(text) + " is no user id: a number from 1 to 2^64-2");
  }
  return UserId{*raw};
}

}  // namespace fanline::feedctl
