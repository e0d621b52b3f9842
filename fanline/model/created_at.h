// Which times a post may be of. One rule for all who take posts: dispatchers, the API, feedctl.
#pragma once

#include <chrono>
#include <string>

#include "fanline/base/time.h"

namespace fanline {

// A post dated ahead stands in front of all others until its time has come. A clock may be wrong by
// so much.
inline constexpr std::chrono::minutes kFurthestFuture{5};
// Who takes a post that was accepted before looks at another clock than who accepted it, and allows
// so much more.
inline constexpr std::chrono::minutes kClocksApart{1};
inline constexpr UnixMs kEarliestCreatedAt = 946'684'800'000;  // 2000-01-01

// Why no post is taken that was created then; "" when it is. "17 is before the year 2000; ..."
// `more`: what is allowed beyond kFurthestFuture.
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
