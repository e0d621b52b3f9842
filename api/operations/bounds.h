// The bounds of requests. openapi.yaml says the same to clients.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fanline::api {

inline constexpr size_t kMostBodyBytes = 64 * 1024;  // 500 of the longest items are 35 KB
inline constexpr size_t kMostRequestLineBytes = 8 * 1024;
inline constexpr size_t kMostHeadBytes = 16 * 1024;  // with the request line
inline constexpr size_t kMostItems = 500;            // of one batched check
inline constexpr uint32_t kMostPerPage = 200;
inline constexpr uint32_t kDefaultPerPage = 50;
// The limit of answers that clients have not read yet. Above it pages come without bodies, the only
// large part: up to 4 MiB a page.
inline constexpr int64_t kMostKeptBytes = 128 << 20;
// Said with every 503. An overloaded shard says how long what waits for it takes, within these.
inline constexpr int kRetryAfterSeconds = 1;
inline constexpr int kMostRetryAfterSeconds = 30;

}  // namespace fanline::api
