// What a step of a mirror's logic comes to.
#pragma once

#include <optional>

#include "fanline/consumer.h"
#include "fanline/time.h"

namespace fanline::mirror {

struct Progress {
  ConsumerOrders orders;
  std::optional<Time> next_timer;  // Step again by then, even without input
};

}  // namespace fanline::mirror
