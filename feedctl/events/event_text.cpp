#include "feedctl/events/event_text.h"

#include "daemon/observe/log.h"

namespace fanline::feedctl {

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

}  // namespace fanline::feedctl
