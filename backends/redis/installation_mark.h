// One key that says whose keys these are: the topic generation of the installation, which feedctl
// init draws at random. Installations that were given one Redis and one prefix notice each other by
// it, before either writes a timeline.
//
// It is written by whoever finds none: a program that starts, and the pusher that claims range 0.
// So a Redis that comes back empty (FLUSHALL, a lost node) is marked again as soon as it is used.
// It lies in the slot of range 0, on the node that serves that range.
#pragma once

#include "backends/redis/client/command_buffer.h"
#include "backends/redis/client/options.h"
#include "backends/redis/keys.h"
#include "fanline/base/outcome.h"

struct redisReply;

namespace fanline::redis {

class Masters;

// Two commands: the first leaves a mark where there is none, the second asks for it.
void EncodeMark(const Options& options, const Keys& keys, CommandBuffer& out);
void EncodeAskMark(const Keys& keys, CommandBuffer& out);

// Of the answer to the second. Never: the keys are another installation's; what to do about it.
Status JudgeMark(const Options& options, const redisReply& answer);

// Both, blocking. Later: the server could not be asked. Whoever asks again and again keeps the
// connections in `masters`, made with the same options.
Status CheckMark(const Options& options);
Status CheckMark(const Options& options, Masters& masters);

}  // namespace fanline::redis
