// How a new connection of ours shows a Redis node who we are.
#pragma once

#include <string>

#include "backends/redis/client/command_buffer.h"
#include "backends/redis/client/options.h"

namespace fanline::redis {

// Appends the AUTH with the password as it is now; nothing when none is given. Answers what is
// wrong with the password's file; empty when it could be read.
[[nodiscard]] std::string EncodeSignIn(const Options& options, CommandBuffer& out);

}  // namespace fanline::redis
