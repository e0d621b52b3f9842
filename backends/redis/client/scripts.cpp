#include "backends/redis/client/scripts.h"

#include <string_view>

#include "schemas/redis_scripts.h"

namespace fanline::redis {
namespace {

// In the order of the enumeration.
constexpr std::string_view kBodies[kScriptCount] = {
    redis_scripts::kApplyLua,          redis_scripts::kClaimLua,
    redis_scripts::kDropLua,           redis_scripts::kMarkPartLua,
    redis_scripts::kReadMembersLua,    redis_scripts::kReadPageLua,
    redis_scripts::kRebuildBeginLua,   redis_scripts::kRebuildFinishLua,
    redis_scripts::kRebuildAbandonLua, redis_scripts::kResetBeginLua,
    redis_scripts::kResetEndLua,       redis_scripts::kResetPageLua,
    redis_scripts::kSavePositionLua,   redis_scripts::kSyncLua,
};

std::array<std::string, kScriptCount> AllTexts() {
  std::array<std::string, kScriptCount> texts;
  for (size_t i = 0; i < kScriptCount; ++i) {
    texts[i] = redis_scripts::kTimelineLua;
    texts[i] += kBodies[i];
  }
  return texts;
}

}  // namespace

const std::string& TextOf(Script script) {
  static const auto texts = AllTexts();
  return texts[static_cast<size_t>(script)];
}

}  // namespace fanline::redis
