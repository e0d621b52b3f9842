// What reconcilers do with what they find. The installation's setting, changed while it runs:
// reconcilers read it about once a second.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "fanline/base/outcome.h"

namespace fanline {

enum class ReconcilerMode {
  kRun,     // check and repair
  kDryRun,  // check and report; no row is changed
  kPause,   // neither: what would be checked waits in the retries
};

constexpr const char* NameOf(ReconcilerMode mode) {
  switch (mode) {
    case ReconcilerMode::kRun:
      return "run";
    case ReconcilerMode::kDryRun:
      return "dry_run";
    case ReconcilerMode::kPause:
      break;
  }
  return "pause";
}
constexpr std::optional<ReconcilerMode> ParseReconcilerMode(std::string_view text) {
  for (const auto mode : {ReconcilerMode::kRun, ReconcilerMode::kDryRun, ReconcilerMode::kPause}) {
    if (text == NameOf(mode)) return mode;
  }
  return std::nullopt;
}

struct ReadReconcilerMode {
  using Reply = struct ReconcilerModeRead;
  uint64_t id = 0;
};
struct ReconcilerModeRead {
  uint64_t id = 0;
  Status status;
  ReconcilerMode mode = ReconcilerMode::kRun;
  uint64_t closings = 0;  // of the breakers, by operators (removal_allowance.h)
};

}  // namespace fanline
