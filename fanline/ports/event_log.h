// Request: append an event to feed-events, as an application's producer does (docs/producers.md).
// kDone: the brokers acknowledged it (acks=all). kLater: it may be in the log; append it again, a
// repetition does no harm.
#pragma once

#include <cstdint>
#include <string>

#include "fanline/base/outcome.h"
#include "fanline/model/event.h"

namespace fanline {

struct AppendEvent {
  using Reply = Acknowledged<AppendEvent>;
  uint64_t id = 0;
  FeedEvent event;
  std::string json = {};  // the event's own text, when it has one
};
using EventAppended = AppendEvent::Reply;

}  // namespace fanline
