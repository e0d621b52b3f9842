// How a new connection authenticates to a Redis node.
#pragma once

#include <string>

#include "backends/redis/client/command_buffer.h"
#include "backends/redis/client/options.h"

namespace fanline::redis {

// Appends AUTH with the current password, or nothing if there is none. Returns what is wrong with
// the password's file, or empty.
[[nodiscard]] std::string EncodeSignIn(const Options& options, CommandBuffer& out);

}  // namespace fanline::redis
