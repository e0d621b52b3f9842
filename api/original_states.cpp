#include "api/original_states.h"

#include <algorithm>

namespace fanline::api {

OriginalStates::Entry& OriginalStates::Use(const Original& original) {
  const auto found = by_original_.find(original);
  if (found != by_original_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    return entries_.front();
  }
  entries_.push_front({.original = original});
  by_original_[original] = entries_.begin();
  if (entries_.size() > most_) {
    by_original_.erase(entries_.back().original);
    entries_.pop_back();
  }
  return entries_.front();
}

std::vector<Original> OriginalStates::Stale(const std::vector<Original>& originals, Time now) {
  std::vector<Original> stale;
  const std::lock_guard lock(mutex_);
  for (const Original& original : originals) {
    Entry& entry = Use(original);
    const bool renewing = entry.renewing && now - *entry.renewing < kStale;
    if (entry.state && now - entry.read_at < (renewing ? kStale : kFor)) continue;
    if (entry.failed && now - *entry.failed < kFor) continue;
    entry.renewing = now;
    stale.push_back(original);
  }
  return stale;
}

// An earlier request may be answered after a later one.
void OriginalStates::Put(const std::vector<Original>& originals, const OriginalsRead& reply,
                         Time asked) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < originals.size(); ++i) {
    Entry& entry = Use(originals[i]);
    if (entry.renewing == asked) entry.renewing.reset();
    const bool known = reply.status.done() && i < reply.states.size() && reply.states[i];
    if (!known) {
      entry.failed = asked;
    } else if (!entry.state || entry.read_at <= asked) {
      entry.state = reply.states[i];
      entry.read_at = asked;
      entry.failed.reset();
    }
  }
}

std::vector<std::optional<PostState>> OriginalStates::Serve(const std::vector<Original>& originals,
                                                            Time now) {
  std::vector<std::optional<PostState>> states;
  const std::lock_guard lock(mutex_);
  for (const Original& original : originals) {
    const auto found = by_original_.find(original);
    const bool known = found != by_original_.end() && found->second->state &&
                       now - found->second->read_at < kWhileAway;
    states.push_back(known ? found->second->state : std::nullopt);
  }
  return states;
}

}  // namespace fanline::api
