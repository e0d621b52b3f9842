#include "backends/redis/client/scripts.h"

#include <openssl/sha.h>

#include <array>
#include <utility>

#include "schemas/redis_scripts.h"

namespace fanline::redis {
namespace {

// By name, in the order of the enumeration; the last is what they share.
static_assert(redis_scripts::kFiles.size() == kScriptCount + 1);

struct Known {
  std::string text, digest;
};

std::array<Known, kScriptCount> All() {
  std::array<Known, kScriptCount> all;
  for (size_t i = 0; i < kScriptCount; ++i) {
    std::string text(redis_scripts::kTimelineLua);
    text += redis_scripts::kFiles[i].text;
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
