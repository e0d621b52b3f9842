// The sums of what an audit found, as JSON and as text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fanline::feedctl {

struct AuditFindings {
  uint64_t timelines = 0;             // live and compared
  uint64_t items = 0;                 // in them, newer than their floors
  uint64_t missing = 0;               // items and marks that should be there
  uint64_t extra = 0;                 // items and marks that should not
  uint64_t trimmed_timelines = 0;     // with a floor: older items are read from the shards
  uint64_t wrong_size = 0;            // fewer than half a window of items, and a floor
  uint64_t malformed = 0;             // keys that are no timeline
  uint64_t not_indexed = 0;           // live, but a complete live: index does not name the reader
  uint64_t building = 0;              // skipped: being rebuilt
  uint64_t gone = 0;                  // skipped: expired meanwhile
  std::vector<std::string> examples;  // a line each; the caller bounds their number

  bool good() const {
    return missing == 0 && extra == 0 && wrong_size == 0 && malformed == 0 && not_indexed == 0;
  }
  void Add(const AuditFindings& more);
};

// One JSON object, a line.
std::string ToJson(const AuditFindings& findings, double seconds);
// For people, several lines; the last is the verdict.
std::string ToText(const AuditFindings& findings, double seconds);

}  // namespace fanline::feedctl
