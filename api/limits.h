// Every bound of the API in one place. openapi.yaml says the same to clients.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fanline/forward_edges.h"
#include "fanline/time.h"

namespace fanline::api {

inline constexpr size_t kMostBodyBytes = 64 * 1024;  // 500 of the longest items are 35 KB
inline constexpr size_t kMostRequestLineBytes = 8 * 1024;
inline constexpr size_t kMostHeadBytes = 16 * 1024;  // with the request line
inline constexpr size_t kMostItems = 500;            // of one batched check
inline constexpr uint32_t kMostPerPage = 200;
inline constexpr uint32_t kDefaultPerPage = 50;
inline constexpr int kRetryAfterSeconds = 1;  // said with every 503

struct Limits {
  uint32_t following_limit = kMostFollowed;
  uint32_t connections = 16'384;  // clients connected at once; one more is told to come back
  uint32_t threads = 16;          // requests that use the store at once
  // So many wait for one of them, so long, before they are told to come back.
  uint32_t queue = 1'024;
  Duration longest_wait = std::chrono::milliseconds(500);
};

}  // namespace fanline::api
