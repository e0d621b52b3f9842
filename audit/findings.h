// What comparing timelines with the truth found: sums, and what differs one by one. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fanline/model/ids.h"
#include "fanline/model/item.h"

namespace fanline::audit {

enum class Kind {
  kMissing,      // `item`, of `author`
  kExtra,        // `item`
  kMissingMark,  // of `author`
  kExtraMark,    // of `author`
  kTooFew,       // only `held` items, though there is a floor
  kMalformed,    // the key is no timeline: `problem`
  kNotIndexed,   // pushes pass the timeline over
};

// One thing that is wrong with a reader's timeline.
struct Difference {
  UserId reader{};
  Kind kind{};
  Item item = {};
  UserId author{};
  uint64_t held = 0;
  std::string problem = {};
};

struct Findings {
  uint64_t timelines = 0;               // live and compared
  uint64_t items = 0;                   // in them, newer than their floors
  uint64_t merged = 0;                  // posts merged at read that pages show beside them
  uint64_t missing = 0;                 // items and marks that should be there, posts a page lacks
  uint64_t extra = 0;                   // items and marks that should not, posts shown for nothing
  uint64_t trimmed_timelines = 0;       // with a floor: older items are read from the shards
  uint64_t wrong_size = 0;              // fewer than half a window of items, and a floor
  uint64_t malformed = 0;               // keys that are no timeline
  uint64_t not_indexed = 0;             // live, but a complete live: index does not name the reader
  uint64_t building = 0;                // skipped: being rebuilt
  uint64_t gone = 0;                    // skipped: expired meanwhile
  std::vector<Difference> differences;  // whoever compares bounds their number

  bool good() const {
    return missing == 0 && extra == 0 && wrong_size == 0 && malformed == 0 && not_indexed == 0;
  }
  void Add(const Findings& more);
};

// Each sum, as reports name it.
struct Figure {
  const char* name;
  uint64_t Findings::*value;
  const char* meaning;
};
std::span<const Figure> Figures();

}  // namespace fanline::audit
