// What every codec of fanline/wire promises of its answer.
#pragma once

#include <algorithm>

#include "fanline/base/check.h"
#include "fanline/base/decoded.h"

namespace fanline::fuzz {

// A reason is a line of a log and a header of a dead letter: what was found is shortened in it.
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
