// What a comparison of timelines with the truth found: sums, and the single differences. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fanline/model/ids.h"
#include "fanline/model/item.h"

namespace fanline::audit {

enum class Kind {
  kMissing,      // `item` of `author`
  kExtra,        // `item`
  kMissingMark,  // the mark of `author`
  kExtraMark,    // the mark of `author`
  kTooFew,       // only `held` items despite a floor
  kMalformed,    // the key is no timeline; `problem` says why
  kNotIndexed,   // pushes skip the timeline
};

// One fault of a reader's timeline.
struct Difference {
  UserId reader{};
  Kind kind{};
  Item item = {};
  UserId author{};
  uint64_t held = 0;
  std::string problem = {};
};

struct Findings {
  uint64_t timelines = 0;  // live and compared
  uint64_t items = 0;      // in them, newer than their floors
  uint64_t merged = 0;     // posts merged at read that pages show beside them
  uint64_t missing = 0;    // items and marks that should be there, posts a page lacks
  uint64_t extra = 0;      // items and marks that should not be there, posts a page has too many
  uint64_t trimmed_timelines = 0;       // with a floor: older items are on the shards
  uint64_t wrong_size = 0;              // fewer than half a window of items despite a floor
  uint64_t malformed = 0;               // keys that are no timeline
  uint64_t not_indexed = 0;             // live, but a complete live: index does not name the reader
  uint64_t building = 0;                // skipped: being rebuilt
  uint64_t gone = 0;                    // skipped: expired meanwhile
  std::vector<Difference> differences;  // the caller bounds their number

  bool good() const {
    return missing == 0 && extra == 0 && wrong_size == 0 && malformed == 0 && not_indexed == 0;
  }
  void Add(const Findings& more);
};

// Each sum with its name in reports.
struct Figure {
  const char* name;
  uint64_t Findings::*value;
  const char* meaning;
};
std::span<const Figure> Figures();

}  // namespace fanline::audit
