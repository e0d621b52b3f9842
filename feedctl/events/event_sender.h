// Appends events to the feed topic and counts acknowledgements. After a failure, send all events
// again: an event sent twice changes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "backends/kafka/producer.h"
#include "fanline/model/event.h"
#include "feedctl/events/acknowledgements.h"
#include "feedctl/support/settings.h"

namespace fanline::feedctl {

// One thread.
class EventSender {
 public:
  // Failure 69 or 78 when the topic cannot be used.
  explicit EventSender(const Settings& settings);

  // Queues `json`, the event's text; waits while too many are under way.
  void Send(const FeedEvent& event, std::string_view json);

  // Waits for all acknowledgements, each of which comes or fails within the producer's own limit.
  void Finish() { acks_.AwaitAtMost(0); }

  uint64_t acknowledged() const { return acks_.acknowledged(); }
  // The first failure so far, or done.
  Status failure() const { return acks_.failure(); }

 private:
  Acknowledgements acks_;
  kafka::Producer producer_;
};

}  // namespace fanline::feedctl
