#include "timeline/fold.h"

#include <algorithm>
#include <iterator>

namespace fanline::timeline {
namespace {

// What the source names, without a look at what that is.
Original NamedBy(const Item& source) {
  return source.original ? source.original : Original{source.post, source.author};
}

}  // namespace

bool Fold::Wants(const Item& source) const {
  if (muted_ && muted_->Has(source.author)) return false;
  if (!source.original) return true;
  return how_ != Reposts::kNone && !(muted_ && muted_->Has(source.original.author));
}

void Fold::Need(const Item& source) {
  if (!source.original) return;
  reposts_ = true;
  if (!known_.contains(source.original)) {
    unknown_.insert(source.original);
  } else if (const PostState* state = StateOf(source.original)) {  // asked for as another's second
    if (state->original && !known_.contains(state->original)) unknown_.insert(state->original);
  }
}

void Fold::Add(const std::vector<Item>& sources) {
  for (const Item& source : sources) {
    if (!Wants(source)) continue;
    sources_.push_back(source);
    Need(source);
  }
}

void Fold::Merge(const std::vector<Item>& sources) {
  const auto before = static_cast<ptrdiff_t>(sources_.size());
  Add(sources);
  std::inplace_merge(sources_.begin(), sources_.begin() + before, sources_.end(), IsNewer);
}

void Fold::CutAt(const Position& place, bool stays) {
  const auto cut = std::partition_point(sources_.begin(), sources_.end(), [&](const Item& source) {
    return stays ? !IsNewer(ItemAt(place), source) : IsNewer(source, ItemAt(place));
  });
  sources_.erase(cut, sources_.end());
}

std::optional<Position> Fold::last() const {
  return sources_.empty() ? std::nullopt : std::optional(PlaceOf(sources_.back()));
}

// The row of a repost that was written before that of the repost it names still names the latter:
// then one more look is needed. A third is not worth it.
void Fold::Know(const Original& original, const std::optional<PostState>& state) {
  unknown_.erase(original);
  known_[original] = state;
  if (!state || !state->original || known_.contains(state->original)) return;
  const bool named = std::any_of(sources_.begin(), sources_.end(),
                                 [&](const Item& source) { return source.original == original; });
  if (named) unknown_.insert(state->original);
}

const PostState* Fold::StateOf(const Original& original) const {
  const auto found = known_.find(original);
  return found == known_.end() || !found->second ? nullptr : &*found->second;
}

std::optional<Fold::Shown> Fold::ShownBy(const Item& source) const {
  if (!source.original) return Shown{NamedBy(source), source.created_at};
  Original what = source.original;
  const PostState* state = StateOf(what);
  if (state != nullptr && state->original) {
    what = state->original;
    state = StateOf(what);
  }
  const bool seen = state != nullptr && state->visible() && !state->original;
  if (!seen || (muted_ && muted_->Has(what.author))) return std::nullopt;
  return Shown{what, *state->created_at};
}

void Fold::PutInFront(const std::vector<Item>& sources) {
  for (const Item& source : sources) {
    if (Wants(source)) in_front_.insert(NamedBy(source));
  }
}

bool Fold::IsInFront(const Item& source, const Original& shown) const {
  return in_front_.contains(shown) || (source.original && in_front_.contains(source.original));
}

template <class Each>
void Fold::Walk(const Each& each) const {
  const bool merges = how_ == Reposts::kMerge && (reposts_ || !in_front_.empty());
  std::set<Original> seen;
  for (const Item& source : sources_) {
    const auto shown = ShownBy(source);
    if (!shown || (merges && IsInFront(source, shown->what))) continue;
    const bool is_new = !merges || seen.insert(shown->what).second;
    if (!each(source, *shown, is_new)) return;
  }
}

std::vector<Original> Fold::Unchecked() {
  std::vector<Original> all;
  if (how_ != Reposts::kMerge) return all;
  Walk([&](const Item& source, const Shown& shown, bool) {
    for (const Original& each : {shown.what, NamedBy(source)}) {
      if (checked_.insert(each).second) all.push_back(each);
    }
    return true;
  });
  return all;
}

std::optional<UnixMs> Fold::PublishedAt(const Original& original) const {
  const PostState* state = StateOf(original);
  return state != nullptr && state->visible() ? state->created_at : std::nullopt;
}

size_t Fold::Count(size_t most, const std::optional<Position>& down_to) const {
  size_t count = 0;
  Walk([&](const Item& source, const Shown&, bool is_new) {
    if (down_to && IsNewer(ItemAt(*down_to), source)) return false;
    if (is_new) ++count;
    return count < most;
  });
  return count;
}

std::optional<Position> Fold::PlaceOfLast(size_t most) const {
  std::optional<Position> place;
  size_t count = 0;
  Walk([&](const Item& source, const Shown&, bool is_new) {
    if (is_new && ++count == most) place = PlaceOf(source);
    return !place;
  });
  return place;
}

Folded Fold::Take(size_t most, bool all) const {
  Folded page;
  const bool merges = how_ == Reposts::kMerge && reposts_;
  std::map<Original, size_t> at;  // in the page
  Walk([&](const Item& source, const Shown& shown, bool is_new) {
    if (is_new && page.items.size() == most) return merges;  // sources of these may follow
    if (!merges) {
      page.items.push_back(source);
      if (source.original) page.items.back().original = shown.what;
      return true;
    }
    if (is_new) {
      at[shown.what] = page.items.size();
      page.items.push_back({shown.what.post, shown.created_at, shown.what.author});
      page.sources.push_back({.place = PlaceOf(source)});
    }
    const auto found = at.find(shown.what);
    if (found == at.end()) return true;
    Sources& sources = page.sources[found->second];
    if (!source.original) {
      sources.posted = true;
      return true;
    }
    const bool named = std::any_of(sources.reposts.begin(), sources.reposts.end(),
                                   [&](const Repost& one) { return one.by == source.author; });
    if (named) return true;
    if (sources.reposts.size() < kNamed) {
      sources.reposts.push_back({source.author, source.created_at, source.post});
    } else {
      sources.more = true;
    }
    return true;
  });
  const bool any = std::any_of(page.sources.begin(), page.sources.end(),
                               [](const Sources& each) { return !each.reposts.empty(); });
  if (!any) page.sources.clear();
  for (Sources& each : page.sources) each.more |= !all && !each.reposts.empty();
  return page;
}

}  // namespace fanline::timeline
