// Whose turn it is when more waits for a store than it serves at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "fanline/base/time.h"

namespace fanline {

// Whether anybody waits for the reply yet. Any thread may clear it; null: somebody does.
using Alive = std::shared_ptr<const std::atomic<bool>>;

struct Turn {
  size_t work_class = 0;     // of the classes that the server was made with
  Time until = Time::max();  // from then on the reply is of no use
  Alive alive = nullptr;
  bool here = false;  // the server may serve it on the caller's thread, which then blocks

  bool Late(Time now) const { return now >= until; }
  bool Dead() const { return alive != nullptr && !alive->load(std::memory_order_relaxed); }
};

}  // namespace fanline
