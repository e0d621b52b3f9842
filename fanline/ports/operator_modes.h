// Settings of the installation that an operator may change at any time. Programs read them about
// once a second.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "fanline/base/outcome.h"

namespace fanline {

// What is done to have the reverse row of a change soon. Only latency depends on it: the log1 row
// and what the mirror does with it are the same in all modes.
enum class MirrorMode {
  kAsync,  // the mirror alone writes the reverse row
  kSync,   // the API also tries it inline; a failure is no error to its caller
  kLog,    // the mirror is told of the change by the server's binary log (log_bell.h)
};

// The names in table `setting` and to operators, by the mode's number.
inline constexpr std::array kMirrorModes = {"async", "sync", "log"};
constexpr const char* NameOf(MirrorMode mode) { return kMirrorModes[static_cast<size_t>(mode)]; }

struct ReadMirrorMode {
  using Reply = struct MirrorModeRead;
  uint64_t id = 0;
};
struct MirrorModeRead {
  uint64_t id = 0;
  Status status;
  MirrorMode mode = MirrorMode::kAsync;
};

// What reconcilers do with edges that may differ.
enum class ReconcilerMode {
  kRun,     // check and repair
  kDryRun,  // check and report; no row is changed
  kPause,   // neither: edges that are due for a check wait in the retries
};

inline constexpr std::array kReconcilerModes = {"run", "dry_run", "pause"};
constexpr const char* NameOf(ReconcilerMode mode) {
  return kReconcilerModes[static_cast<size_t>(mode)];
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
