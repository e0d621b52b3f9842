// How a dead letter is shown: texts for a terminal, and JSON. Of a record, only ids, our own
// headers and unreadable bytes in hexadecimal are shown. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "feedctl/dead_letters/letter.h"
#include "feedctl/support/failure.h"
#include "feedctl/support/json.h"

namespace fanline::feedctl {

// "waiting" or "replayed", and how often the record came back.
std::string StateOf(const Letter& letter);

// letter, set_aside_ms, replayed, came_back, stage, reason, origin, and omitted if not empty.
Json ToJson(const Letter& letter);

// Headers of other programs may be confidential, so only their size is shown.
std::string ShownHeader(const std::string& name, const std::string& value);

// Our keys are ids; any other key is shown in hexadecimal.
std::string ShownKey(const std::string& key);

// The value's first 4,096 bytes in hexadecimal: "7b22...".
std::string ShownBytes(std::string_view bytes);

// The failure when `place` holds no letter.
Failure NoLetter(const std::string& place);

}  // namespace fanline::feedctl
