#include "feedctl/events/event_sender.h"

#include "fanline/wire/event_codec.h"
#include "feedctl/support/installed.h"

namespace fanline::feedctl {
namespace {

constexpr uint64_t kMostUnderWay = 50'000;  // far below what the producer refuses

kafka::ProducerOptions OptionsOf(const Settings& settings, std::chrono::milliseconds linger) {
  kafka::ProducerOptions options;
  options.client = options::ToOptions(settings.kafka, kClientId);
  options.linger = linger;
  return options;
}

// A producer that asks for a missing topic would create it, with the cluster's defaults.
const std::string& Existing(const Settings& settings) {
  RequireTopic(settings, settings.topics.feed);
  return settings.topics.feed;
}

}  // namespace

EventSender::EventSender(const Settings& settings, std::chrono::milliseconds linger)
    : topic_(Existing(settings)),
      headers_{{"content-type", std::string(kJsonContentType)}},
      producer_(OptionsOf(settings, linger), [](LogLevel, const std::string&) {}) {}

void EventSender::Send(const FeedEvent& event, std::string_view json) {
  acks_.AwaitAtMost(kMostUnderWay);
  acks_.Expect();
  producer_.Produce(topic_, kafka::kAnyPartition, MemberText(event.post), json, headers_,
                    [this](const Status& status) { acks_.Answer(status); });
}

}  // namespace fanline::feedctl
