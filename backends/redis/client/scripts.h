// The Lua scripts of schemas/redis, each preceded by the shared timeline.lua.
#pragma once

#include <array>
#include <string>

namespace fanline::redis {

enum class Script {
  kApply,
  kClaim,
  kDrop,
  kMarkPart,
  kReadMembers,
  kReadPage,
  kRebuildBegin,
  kRebuildFinish,
  kRebuildAbandon,
  kResetBegin,
  kResetEnd,
  kResetPage,
  kSavePosition,
  kSync,
};
inline constexpr size_t kScriptCount = 14;

// The text for SCRIPT LOAD.
const std::string& TextOf(Script script);

// The digests by which EVALSHA names the scripts, as SCRIPT LOAD returned them. A digest depends on
// the text only, so it is the same on every node.
class ScriptDigests {
 public:
  const std::string& Of(Script script) const { return digests_[static_cast<size_t>(script)]; }
  void Set(Script script, std::string digest) {
    digests_[static_cast<size_t>(script)] = std::move(digest);
  }

 private:
  std::array<std::string, kScriptCount> digests_;
};

}  // namespace fanline::redis
