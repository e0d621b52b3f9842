// Every bound of a reconciler in one place.
#pragma once

#include <cstdint>

#include "fanline/base/time.h"

namespace fanline::reconciler {

struct Limits {
  // How long a message waits for the other message of its pair until its edge is checked. Healthy
  // pairs take less; 3 s is the target for their p99.
  Duration grace = std::chrono::seconds(3);
  // How long an answered pair is remembered.
  Duration remember = std::chrono::seconds(60);
  Duration commit_every = std::chrono::seconds(1);

  // Each per partition.
  uint32_t pending = 50'000;          // with more, the oldest goes to the retries
  uint32_t remembered = 200'000;      // with more, the oldest is forgotten early
  uint32_t checks_in_flight = 1'000;  // two full statements; the pairs of shards share them
  uint32_t retries_in_flight = 1'000;

  uint32_t checks_before_retry = 3;  // one more than a removal needs
};

}  // namespace fanline::reconciler
