// How much the API takes on at once. The bounds of requests are in operations/bounds.h.
#pragma once

#include <cstdint>

#include "fanline/base/time.h"
#include "fanline/ports/forward_edges.h"

namespace fanline::api {

struct Limits {
  uint32_t following_limit = kMostFollowed;  // the installation's
  uint32_t connections = 16'384;  // clients connected at once; one more is told to come back
  uint32_t threads = 16;          // requests that use the store at once
  // Requests that may wait for a store, and for how long; the client is then told to come back.
  uint32_t queue = 1'024;
  Duration longest_wait = std::chrono::milliseconds(500);
};

}  // namespace fanline::api
