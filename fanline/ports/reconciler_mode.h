// What reconcilers do with edges that may differ. An operator may change this setting of the
// installation at any time; reconcilers read it about once a second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "fanline/base/outcome.h"

namespace fanline {

enum class ReconcilerMode {
  kRun,     // check and repair
  kDryRun,  // check and report; no row is changed
  kPause,   // neither: edges that are due for a check wait in the retries
};

constexpr const char* NameOf(ReconcilerMode mode) {
  constexpr const char* kNames[] = {"run", "dry_run", "pause"};
  return kNames[static_cast<size_t>(mode)];
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
  uint64_t closings = 0;  // number of the breakers' last closing (removal_allowance.h)
};

}  // namespace fanline
