#include "feedctl/events/event_sender.h"

#include "feedctl/support/installed.h"

namespace fanline::feedctl {
namespace {

constexpr uint64_t kMostUnderWay = 50'000;       // far below the producer's own limit
constexpr std::chrono::milliseconds kLinger{5};  // forms batches when there are many

kafka::ProducerOptions OptionsOf(const Settings& settings) {
  kafka::ProducerOptions options;
  options.client = options::ToOptions(settings.kafka, kClientId);
  options.linger = kLinger;
  options.feed_topic = settings.topics.feed;
  // A producer would create a missing topic, with the cluster's defaults.
  RequireTopic(settings, options.feed_topic);
  return options;
}

}  // namespace

EventSender::EventSender(const Settings& settings)
    : producer_(OptionsOf(settings), [](LogLevel, const std::string&) {}) {}

void EventSender::Send(const FeedEvent& event, std::string_view json) {
  acks_.AwaitAtMost(kMostUnderWay);
  acks_.Expect();
  producer_.Submit(AppendEvent{0, event, std::string(json)}, acks_);
}

}  // namespace fanline::feedctl
