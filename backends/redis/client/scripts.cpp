#include "backends/redis/client/scripts.h"

#include <openssl/sha.h>

#include <array>
#include <string_view>
#include <utility>

#include "schemas/redis_scripts.h"

namespace fanline::redis {
namespace {

// In the order of the enumeration.
constexpr std::string_view kBodies[kScriptCount] = {
    redis_scripts::kApplyLua,         redis_scripts::kClaimLua,
    redis_scripts::kDropLua,          redis_scripts::kMarkPartLua,
    redis_scripts::kNewsLua,          redis_scripts::kReadMembersLua,
    redis_scripts::kReadPageLua,      redis_scripts::kRebuildBeginLua,
    redis_scripts::kRebuildFinishLua, redis_scripts::kRebuildAbandonLua,
    redis_scripts::kResetBeginLua,    redis_scripts::kResetEndLua,
    redis_scripts::kResetPageLua,     redis_scripts::kSavePositionLua,
    redis_scripts::kSyncLua,
};

struct Known {
  std::string text, digest;
};

std::array<Known, kScriptCount> All() {
  std::array<Known, kScriptCount> all;
  for (size_t i = 0; i < kScriptCount; ++i) {
    std::string text(redis_scripts::kTimelineLua);
    text += kBodies[i];
    unsigned char digest[SHA_DIGEST_LENGTH];
    SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
    for (const unsigned char byte : digest) {
      for (const int half : {byte >> 4, byte & 15}) all[i].digest += "0123456789abcdef"[half];
    }
    all[i].text = std::move(text);
  }
  return all;
}

const Known& Find(Script script) {
  static const auto all = All();
  return all[static_cast<size_t>(script)];
}

}  // namespace

const std::string& TextOf(Script script) { return Find(script).text; }
const std::string& DigestOf(Script script) { return Find(script).digest; }

CommandBuffer BeginCall(Script script, size_t keys, size_t arguments) {
  CommandBuffer call;
  call.Begin(3 + keys + arguments);
  call.Arg("EVALSHA");
  call.Arg(DigestOf(script));
  call.Arg(keys);
  return call;
}

}  // namespace fanline::redis
