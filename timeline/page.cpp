#include "timeline/page.h"

#include <algorithm>

namespace fanline::timeline {
namespace {

Position PlaceOf(const Item& item) { return {item.created_at, item.post}; }

// Leaves out what does not come before the place.
void CutAt(const std::optional<Position>& place, std::vector<Item>& items) {
  if (!place) return;
  const auto cut = std::find_if(items.begin(), items.end(), [&](const Item& item) {
    return !IsNewer(item, {place->post, place->created_at});
  });
  items.erase(cut, items.end());
}

// One item more than asked for tells that there is a next page.
bool CutToLimit(uint32_t limit, std::vector<Item>& items) {
  if (items.size() <= limit) return false;
  items.resize(limit);
  return true;
}

}  // namespace

PageNeed PageRead::needed() const {
  if (!asked_) return NeedTimeline{query_.older_than, query_.limit + 1};
  if (done()) return NothingNeeded{};
  return std::visit([](const auto& need) { return PageNeed(need); }, pull_->needed());
}

void PageRead::OnTimeline(ReaderTimelines::Page cached) {
  asked_ = true;
  page_.timeline = cached.state;
  if (!page_.live()) return PullTheRest();
  page_.items = std::move(cached.items);
  CutAt(query_.newer_than, page_.items);
  more_ = CutToLimit(query_.limit, page_.items);
  page_.cached = page_.items.size();
  if (more_ || cached.floor == kNoFloor) return;
  // Complete for times newer than the floor: for those of the place, too, when it lies above.
  if (query_.newer_than && query_.newer_than->created_at > cached.floor) return;
  more_ = page_.items.size() == query_.limit;  // whether there is more is not worth a read
  if (!more_) PullTheRest();
}

void PageRead::OnNoTimeline() {
  asked_ = true;
  PullTheRest();
}

void PageRead::PullTheRest() {
  const auto from = page_.items.empty() ? query_.older_than : PlaceOf(page_.items.back());
  const auto rest = static_cast<uint32_t>(query_.limit - page_.items.size());
  pull_.emplace(PullLimits{.want = rest}, from, query_.newer_than);
}

Page PageRead::Take() {
  bool more = more_;
  if (pull_) {
    page_.items.insert(page_.items.end(), pull_->items().begin(), pull_->items().end());
    more = pull_->floor() != kNoFloor;
  }
  if (more && !page_.items.empty()) page_.next = PlaceOf(page_.items.back());
  return std::move(page_);
}

Page PageOf(std::vector<Item> items, const PageQuery& query) {
  Page page;
  page.items = std::move(items);
  CutAt(query.newer_than, page.items);
  const bool more = CutToLimit(query.limit, page.items);
  if (more) page.next = PlaceOf(page.items.back());
  return page;
}

}  // namespace fanline::timeline
