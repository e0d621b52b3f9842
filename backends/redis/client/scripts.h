// The Lua scripts of schemas/redis, each preceded by the shared timeline.lua.
#pragma once

#include <string>

#include "backends/redis/client/command_buffer.h"

namespace fanline::redis {

// In the order of their files' names.
enum class Script {
  kApply,
  kClaim,
  kDrop,
  kMarkPart,
  kNews,
  kReadPage,
  kRebuildAbandon,
  kRebuildBegin,
  kRebuildFinish,
  kResetBegin,
  kResetEnd,
  kResetPage,
  kSavePosition,
  kSetMutes,
  kSync,
};
inline constexpr size_t kScriptCount = 15;

// The text for SCRIPT LOAD, and the digest by which EVALSHA names it: the text's SHA-1.
const std::string& TextOf(Script script);
const std::string& DigestOf(Script script);
// The beginning of a call. As many keys and then as many arguments must follow.
CommandBuffer BeginCall(Script script, size_t keys, size_t arguments);

}  // namespace fanline::redis
