#include "audit/findings.h"

namespace fanline::audit {
namespace {

constexpr Figure kFigures[] = {
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
    {"building", &Findings::building, "skipped: being rebuilt"},
    {"gone", &Findings::gone, "skipped: expired meanwhile"},
};

}  // namespace

std::span<const Figure> Figures() { return kFigures; }

void Findings::Add(const Findings& more) {
  for (const Figure& figure : kFigures) this->*figure.value += more.*figure.value;
  differences.insert(differences.end(), more.differences.begin(), more.differences.end());
}

}  // namespace fanline::audit
