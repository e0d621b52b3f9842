#include "timeline/page.h"

#include <algorithm>

namespace fanline::timeline {
namespace {

// Leaves out what does not come before the place.
void CutAt(const std::optional<Position>& place, std::vector<Item>& items) {
  if (!place) return;
  const auto cut = std::find_if(items.begin(), items.end(),
                                [&](const Item& item) { return !IsNewer(item, ItemAt(*place)); });
  items.erase(cut, items.end());
}

// One item more than asked for shows that there is a next page.
bool CutToLimit(uint32_t limit, std::vector<Item>& items) {
  if (items.size() <= limit) return false;
  items.resize(limit);
  return true;
}

}  // namespace

PageNeed PageRead::needed() const {
  if (!asked_) return NeedTimeline{query_.older_than, query_.limit + 1};
  if (done()) return NothingNeeded{};
  const Pull& pull = beside_ ? *beside_ : *pull_;
  return std::visit([](const auto& need) { return PageNeed(need); }, pull.needed());
}

void PageRead::OnTimeline(LivePage cached) {
  asked_ = true;
  page_.timeline = cached.state;
  if (!page_.live()) return PullTheRest();
  page_.as_of = cached.as_of;
  floor_ = cached.floor;
  page_.items = std::move(cached.items);
  const bool below = query_.older_than && query_.older_than->created_at <= floor_;
  if (below || !cached.marks.any()) return TakeLive();
  PullBeside(cached.marks);
  GoOn();
}

// Pulls what is merged at read into the same part of the timeline: behind the place asked for,
// above the floor, and before the first item of the next page.
void PageRead::PullBeside(const Marks& marks) {
  std::optional<Position> until = query_.newer_than;
  const auto not_beyond = [&](const Position& place) {
    if (!until || IsNewer(ItemAt(place), ItemAt(*until))) {
      until = place;
    }
  };
  if (floor_ != kNoFloor) not_beyond({floor_, kFirstOfMoment});
  if (page_.items.size() > query_.limit) not_beyond(PlaceOf(page_.items.back()));
  // If authors are named, all are, the reader among them.
  beside_.emplace(PullLimits{.want = query_.limit + 1}, query_.older_than, until,
                  Pulled::kMergedAtRead, marks.more ? own_ : std::nullopt);
  if (marks.more) return;
  beside_->OnFollowees(marks.authors);
  wanted_ = Beside{marks.authors, query_.older_than, until, query_.limit + 1};
}

void PageRead::OnBeside(std::vector<Item> items, bool incomplete) {
  page_.incomplete |= incomplete;
  wanted_.reset();
  beside_.reset();
  Merge(items);
  TakeLive();
}

void PageRead::OnFollowees(std::vector<UserId> authors) {
  pull().OnFollowees(std::move(authors));
  GoOn();
}

void PageRead::OnLastAt(std::vector<AuthorLastAt> authors) {
  wanted_.reset();
  pull().OnLastAt(std::move(authors));
  GoOn();
}

void PageRead::OnItems(ItemsRead read) {
  pull().OnItems(std::move(read));
  GoOn();
}

void PageRead::GoOn() {
  if (!beside_ || !beside_->done()) return;
  Merge(beside_->items());
  beside_.reset();
  TakeLive();
}

void PageRead::Merge(const std::vector<Item>& beside) {
  const auto live = static_cast<ptrdiff_t>(page_.items.size());
  page_.items.insert(page_.items.end(), beside.begin(), beside.end());
  std::inplace_merge(page_.items.begin(), page_.items.begin() + live, page_.items.end(), IsNewer);
}

void PageRead::TakeLive() {
  CutAt(query_.newer_than, page_.items);
  more_ = CutToLimit(query_.limit, page_.items);
  page_.cached = page_.items.size();
  if (more_ || floor_ == kNoFloor) return;
  // The timeline is complete above the floor, so it holds all before the place if that lies above.
  if (query_.newer_than && query_.newer_than->created_at > floor_) return;
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
  pull_.emplace(PullLimits{.want = rest}, from, query_.newer_than, Pulled::kAll, own_);
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
  Page page{.items = std::move(items)};
  CutAt(query.newer_than, page.items);
  const bool more = CutToLimit(query.limit, page.items);
  if (more) page.next = PlaceOf(page.items.back());
  return page;
}

}  // namespace fanline::timeline
