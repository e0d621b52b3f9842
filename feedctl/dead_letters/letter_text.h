// How a dead letter is shown: texts for a terminal, and JSON. Of a record, only ids, our own
// headers and unreadable bytes in hexadecimal are shown. Pure; any thread.
#pragma once

#include <string>

#include "feedctl/dead_letters/letter.h"
#include "feedctl/support/json.h"

namespace fanline::feedctl {

// What the letter is, who set it aside and why. `in_full`: also its headers, its key, and the first
// 4,096 bytes of a value that nobody can read. The text is some lines.
std::string ToText(const Letter& letter, bool in_full);
Json ToJson(const Letter& letter, bool in_full);

}  // namespace fanline::feedctl
