// The nets that find edges whose two rows differ. What one misses the next may find.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fanline {

enum class Net : uint8_t {  // the numbers stand in entries of relation-log.retry
  kPair = 0,                // a msg1 and its msg2 (reconciler/pair_tracker.h)
  kLog = 1,                 // a second look at relation-log and log1, minutes later
  kScan = 2,                // a scan of whole tables (reconciler/full_scanner.h)
};

// The names in metrics and repair_log, by the net's number.
inline constexpr const char* kNets[] = {"pair", "log", "scan"};
constexpr const char* NameOf(Net net) { return kNets[static_cast<size_t>(net)]; }

}  // namespace fanline
