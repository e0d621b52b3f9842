// How much the API takes on at once. The bounds of requests are in operations/bounds.h.
#pragma once

#include <cstdint>

#include "fanline/base/time.h"

namespace fanline::api {

struct Limits {
  uint32_t connections = 16'384;                  // clients connected at once
  Duration idle_time = std::chrono::seconds(75);  // of a connection between two requests
  uint32_t threads = 16;  // requests about relations that a shard serves at once
  // Of each class: requests that may wait for a shard, and for how long before they are refused.
  uint32_t queue = 1'024;
  Duration longest_wait = std::chrono::milliseconds(500);

  uint32_t page_threads = 16;    // pages that ask Redis at once
  uint32_t pull_threads = 16;    // pages that use a shard at once
  uint32_t pull_queue = 16'384;  // pages that may wait for them: all readers who come back at once
  Duration longest_pull_wait = std::chrono::seconds(5);
  uint32_t rebuild_threads = 4;  // timelines made live at once

  // How late a post may arrive and still be shown to clients that ask for new posts.
  Duration newest_overlap = std::chrono::seconds(10);

  uint32_t publish_queue = 10'000;  // events that wait for Kafka's acknowledgement
  Duration publish_timeout = std::chrono::seconds(5);

  uint32_t bodies_threads = 8;    // pages that ask the application's database at once
  uint32_t bodies_queue = 1'024;  // pages that may wait for it, and for how long
  Duration longest_bodies_wait = std::chrono::milliseconds(250);
};

}  // namespace fanline::api
