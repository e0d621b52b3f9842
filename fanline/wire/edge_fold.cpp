#include "fanline/wire/edge_fold.h"

#include <compare>
#include <map>

#include "fanline/base/check.h"
#include "fanline/model/bucket.h"

namespace fanline {
namespace {

struct Place {  // of a row in the table
  UserId dst{};
  Bucket bucket = 0;
  UserId src{};
  friend auto operator<=>(const Place&, const Place&) = default;
};

Place PlaceOf(const EdgeKey& edge) { return {edge.dst, BucketOf(edge.src), edge.src}; }

struct Change {
  EdgeState before;
  EdgeState after;
};

using Changes = std::map<Place, Change>;

Changes Before(std::span<const Edge> messages, std::span<const Edge> rows) {
  Changes changes;
  for (const Edge& message : messages) changes[PlaceOf(message.key())];
  for (const Edge& row : rows) {
    const auto found = changes.find(PlaceOf(row.key()));
    FANLINE_CHECK(found != changes.end(), "a row of an edge outside of the batch");
    found->second = {row.state(), row.state()};
  }
  return changes;
}

}  // namespace

std::vector<EdgeKey> EdgesToLock(std::span<const Edge> messages) {
  std::vector<EdgeKey> edges;
  for (const auto& [place, change] : Before(messages, {})) edges.push_back({place.src, place.dst});
  return edges;
}

Folded Fold(std::span<const Edge> messages, std::span<const Edge> rows) {
  Changes changes = Before(messages, rows);
  for (const Edge& message : messages) {
    EdgeState& after = changes.find(PlaceOf(message.key()))->second.after;
    if (Wins(message.state(), after)) after = message.state();
  }
  Folded folded;
  for (const auto& [place, change] : changes) {
    if (!Wins(change.after, change.before)) continue;
    folded.rows.push_back(EdgeOf({place.src, place.dst}, change.after));
    const int by = Transition(change.before, change.after);
    if (by == 0) continue;
    auto& counters = folded.counters;
    if (counters.empty() || counters.back().user != place.dst) counters.push_back({place.dst, 0});
    counters.back().by += by;
  }
  std::erase_if(folded.counters, [](const CounterChange& counter) { return counter.by == 0; });
  for (const Edge& message : messages) {
    folded.mirrored.push_back(
        {message.key(), changes.find(PlaceOf(message.key()))->second.after.ver});
  }
  return folded;
}

}  // namespace fanline
