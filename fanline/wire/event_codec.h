// Reads and writes feed events, in the forms and with the strictness of event_wire.h.
// docs/producers.md is the page for those who send them. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "fanline/model/event.h"
#include "fanline/wire/event_wire.h"

namespace fanline {

// `content_type` is the header's value, empty when there is none.
Decoded<FeedEvent> DecodeEvent(std::string_view value, std::string_view content_type);

std::string EncodeEventJson(const FeedEvent& event);

}  // namespace fanline
