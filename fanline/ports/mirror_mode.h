// Whether a writer of forward edges also writes the reverse row at once. An operator may change
// this setting of the installation at any time; writers read it about once a second. Only latency
// depends on it: the log1 row and what the mirror does with it are the same in both modes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "fanline/base/outcome.h"

namespace fanline {

enum class MirrorMode {
  kAsync,  // the mirror alone writes the reverse row
  kSync,   // the writer also tries it inline; a failure is no error to its caller
};

constexpr const char* NameOf(MirrorMode mode) {
  return mode == MirrorMode::kSync ? "sync" : "async";
}
constexpr std::optional<MirrorMode> ParseMirrorMode(std::string_view text) {
  if (text == NameOf(MirrorMode::kSync)) return MirrorMode::kSync;
  if (text == NameOf(MirrorMode::kAsync)) return MirrorMode::kAsync;
  return std::nullopt;
}

struct ReadMirrorMode {
  using Reply = struct MirrorModeRead;
  uint64_t id = 0;
};
struct MirrorModeRead {
  uint64_t id = 0;
  Status status;
  MirrorMode mode = MirrorMode::kAsync;
};

}  // namespace fanline
