// What a comparison of timelines with the truth found: sums, and the single differences. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fanline/model/ids.h"
#include "fanline/model/item.h"
#include "fanline/model/mark.h"

namespace fanline::audit {

enum class Kind {
  kMissing,      // `item`
  kExtra,        // `item`
  kMissingMark,  // `mark`
  kExtraMark,    // `mark`
  kTooFew,       // only `held` items despite a floor
  kMalformed,    // the key is no timeline; `problem` says why
  kNotIndexed,   // pushes skip the timeline
  kMutes,        // it names the version `mutes` of its reader's, which is another
};

// One fault of a reader's timeline.
struct Difference {
  UserId reader{};
  Kind kind{};
  Item item = {};
  Mark mark = {};
  uint64_t held = 0;
  uint64_t mutes = 0;
  uint64_t mutes_wanted = 0;  // the version of the reader's row
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
  uint64_t wrong_mutes = 0;             // naming another version of their readers' mutes
  uint64_t building = 0;                // skipped: being rebuilt
  uint64_t gone = 0;                    // skipped: expired meanwhile
  std::vector<Difference> differences;  // the caller bounds their number

  bool good() const {
    return missing == 0 && extra == 0 && wrong_size == 0 && malformed == 0 && not_indexed == 0 &&
           wrong_mutes == 0;
  }
  void Add(const Findings& more);
};

// Each sum with its name in reports.
template <typename Sums>
struct Figure {
  const char* name;
  uint64_t Sums::*value;
  const char* meaning;
};
inline constexpr Figure<Findings> kFigures[] = {
    {"timelines", &Findings::timelines, "live timelines compared"},
    {"items", &Findings::items, "items in them, newer than their floors"},
    {"merged", &Findings::merged, "posts merged at read that pages show beside them"},
    {"missing", &Findings::missing, "items that should be there and are not"},
    {"extra", &Findings::extra, "items that are there and should not be"},
    {"trimmed_timelines", &Findings::trimmed_timelines,
     "have a floor: what is older is read from the shards"},
    {"wrong_size", &Findings::wrong_size, "have a floor and less than half a window of items"},
    {"malformed", &Findings::malformed, "keys that are no timeline"},
    {"not_indexed", &Findings::not_indexed, "live, but not in their range's complete index"},
    {"wrong_mutes", &Findings::wrong_mutes, "live, but naming another version of the mutes"},
    {"building", &Findings::building, "skipped: being rebuilt"},
    {"gone", &Findings::gone, "skipped: expired meanwhile"},
};

inline void Findings::Add(const Findings& more) {
  for (const auto& figure : kFigures) this->*figure.value += more.*figure.value;
  differences.insert(differences.end(), more.differences.begin(), more.differences.end());
}

}  // namespace fanline::audit
