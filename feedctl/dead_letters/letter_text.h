// How a dead letter is shown: texts for a terminal, and JSON. Nothing of a record is shown but ids,
// our own headers and, of what nobody can read, its bytes in hexadecimal. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "feedctl/dead_letters/letter.h"
#include "feedctl/support/failure.h"
#include "feedctl/support/json.h"

namespace fanline::feedctl {

// "waiting" or "replayed", and how often its record came back.
std::string StateOf(const Letter& letter);

// letter, set_aside_ms, replayed, came_back, stage, reason, origin, omitted (when it is).
Json ToJson(const Letter& letter);

// Headers of other programs may carry what is nobody's business: of those only the size is shown.
std::string ShownHeader(const std::string& name, const std::string& value);

// Keys of ours are ids; any other is shown in hexadecimal.
std::string ShownKey(const std::string& key);

// The value's first 4,096 bytes in hexadecimal: "7b22...".
std::string ShownBytes(std::string_view bytes);

// `place` holds no letter.
Failure NoLetter(const std::string& place);

}  // namespace fanline::feedctl
