// SHA-1 of a short text, for what Redis' Lua, MariaDB and this code must agree on. No protection
// against anybody.
#pragma once

#include <cstdint>
#include <string_view>

namespace fanline {

// The digest's first 32 bits: its first eight hexadecimal digits as a number. `text`: at most 55
// bytes, one block.
uint32_t FirstWordOfSha1(std::string_view text);

}  // namespace fanline
