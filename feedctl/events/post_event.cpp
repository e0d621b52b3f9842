#include "feedctl/events/post_event.h"

#include <cstdio>

#include "daemon/clock.h"
#include "daemon/observe/log.h"
#include "fanline/model/created_at.h"
#include "fanline/wire/event_codec.h"
#include "feedctl/events/event_sender.h"
#include "feedctl/support/explain.h"

namespace fanline::feedctl {
namespace {

void RequireAcceptable(const FeedEvent& event, const std::string& json) {
  const Decoded<FeedEvent> decoded = DecodeEvent(json, kJsonContentType);
  if (const auto* refused = std::get_if<Rejection>(&decoded)) {
    throw Failure(kExitUsage, refused->reason);
  }
  if (event.kind != EventKind::kPublished) return;
  const std::string why = WhyNotTaken(event.created_at, daemon::SystemNow().unix_ms);
  if (!why.empty()) throw Failure(kExitUsage, "--created-at: " + why);
}

}  // namespace

std::string Describe(const FeedEvent& event) {
  std::string text = std::string(NameOf(event.kind)) + " post " + ToString(event.post) +
                     " of author " + ToString(event.author);
  switch (TraitsOf(event.kind).number) {
    case EventNumber::kNone:
      break;
    case EventNumber::kCreatedAt:
      text += ", created " + daemon::Rfc3339(event.created_at);
      break;
    case EventNumber::kVersion:
      text += ", version " + std::to_string(event.version);
      break;
  }
  return text;
}

void SendOne(const FeedEvent& event, const Settings& settings, bool json) {
  const std::string text = EncodeEventJson(event);
  RequireAcceptable(event, text);
  EventSender sender(settings, std::chrono::milliseconds(0));
  sender.Send(event, text);
  sender.Finish();
  Require(sender.failure(), settings, kExitData);
  std::printf("%s\n", json ? text.c_str() : Describe(event).c_str());
}

}  // namespace fanline::feedctl
