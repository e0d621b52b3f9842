// Which form an event's bytes have, behind the codecs.
#pragma once

#include <string_view>

#include "fanline/model/record.h"
#include "fanline/wire/event_wire.h"

namespace fanline {

enum class EventForm { kJson, kProto };

// The value of the header content-type, empty when there is none.
std::string_view ContentTypeOf(const Record& record);

// `content_type` is the header's value, empty when there is none. Refuses a value that is empty or
// too long, and a content-type of neither form.
Decoded<EventForm> FormOf(std::string_view value, std::string_view content_type);

}  // namespace fanline
