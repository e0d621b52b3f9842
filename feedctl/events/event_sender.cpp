#include "feedctl/events/event_sender.h"

#include "feedctl/support/installed.h"

namespace fanline::feedctl {
namespace {

constexpr uint64_t kMostUnderWay = 50'000;  // far below the producer's own limit

kafka::ProducerOptions OptionsOf(const Settings& settings, std::chrono::milliseconds linger) {
  kafka::ProducerOptions options;
  options.client = options::ToOptions(settings.kafka, kClientId);
  options.linger = linger;
  options.feed_topic = settings.topics.feed;
  // A producer would create a missing topic, with the cluster's defaults.
  RequireTopic(settings, options.feed_topic);
  return options;
}

}  // namespace

EventSender::EventSender(const Settings& settings, std::chrono::milliseconds linger)
    : producer_(OptionsOf(settings, linger), [](LogLevel, const std::string&) {}) {}

void EventSender::Send(const FeedEvent& event, std::string_view json) {
  acks_.AwaitAtMost(kMostUnderWay);
  acks_.Expect();
  producer_.Submit(AppendEvent{0, event, std::string(json)}, acks_);
}

}  // namespace fanline::feedctl
