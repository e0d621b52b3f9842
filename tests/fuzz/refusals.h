// The promises of every codec of fanline/wire about its refusals.
#pragma once

#include <algorithm>

#include "fanline/base/check.h"
#include "fanline/base/decoded.h"

namespace fanline::fuzz {

// A reason fits a line of a log and a header of a dead letter, so quoted input is shortened.
inline void CheckReason(const Rejection& refused) {
  constexpr size_t kMost = 512;
  const std::string& reason = refused.reason;
  FANLINE_CHECK(!reason.empty() && reason.size() <= kMost, "a reason is short, and there is one");
  FANLINE_CHECK(
      std::all_of(reason.begin(), reason.end(), [](char c) { return c >= ' ' && c <= '~'; }),
      "a reason is one line of printable ASCII");
}

template <class T>
bool IsExactly(const Decoded<T>& decoded, const T& value) {
  const T* found = std::get_if<T>(&decoded);
  return found != nullptr && *found == value;
}

}  // namespace fanline::fuzz
