// Which created_at a post may have. One rule for all programs that accept posts: dispatchers, the
// API, feedctl.
#pragma once

#include <chrono>
#include <string>

#include "fanline/base/time.h"

namespace fanline {

// How far ahead of our clock a post may be dated, since clocks differ. Such a post stands in front
// of all others until its time has come.
inline constexpr std::chrono::minutes kFurthestFuture{5};
// What is allowed beyond that for a post that was accepted before, by another clock.
inline constexpr std::chrono::minutes kClocksApart{1};
inline constexpr UnixMs kEarliestCreatedAt = 946'684'800'000;  // 2000-01-01

// Why a post created then is refused, as in "17 is before the year 2000; ..."; "" if it is
// accepted. `more`: what is allowed beyond kFurthestFuture.
inline std::string WhyNotTaken(UnixMs created_at, UnixMs now, std::chrono::minutes more = {}) {
  const UnixMs ahead = std::chrono::milliseconds(kFurthestFuture + more).count();
  const std::string sent = std::to_string(created_at);
  if (created_at < kEarliestCreatedAt) {
    return sent + " is before the year 2000; is it in seconds? send milliseconds since 1970";
  }
  if (created_at - now > ahead) {
    return sent + " is more than " + std::to_string(kFurthestFuture.count()) +
           " minutes in the future; is it in microseconds? send milliseconds since 1970";
  }
  return {};
}

}  // namespace fanline
