// One key that says whose keys these are. Its value is the installation's topic generation, which
// feedctl init draws at random. Two installations with the same Redis and prefix notice each other
// by it before either writes a timeline.
// A starting program writes it if it is missing, and so does the pusher that claims range 0. So a
// Redis that comes back empty (FLUSHALL, a lost node) is marked again as soon as it is used. It
// lies in the slot of range 0, on the node that serves that range.
#pragma once

#include "backends/redis/client/command_buffer.h"
#include "backends/redis/client/options.h"
#include "backends/redis/keys.h"
#include "fanline/base/outcome.h"

struct redisReply;

namespace fanline::redis {

class Masters;

// Two commands: the first writes a missing mark, the second reads the mark.
CommandBuffer MarkCommand(const Options& options, const Keys& keys);
CommandBuffer AskMarkCommand(const Keys& keys);

// Judges the answer to the second. Never: the keys are another installation's; the message says
// what to do.
Status JudgeMark(const Options& options, const redisReply& answer);

// Sends both, blocking. Later: the server could not be asked. A caller that asks repeatedly keeps
// the connections in `masters`, made with the same options.
Status CheckMark(const Options& options);
Status CheckMark(const Options& options, Masters& masters);

}  // namespace fanline::redis
