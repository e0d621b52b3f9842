#include "timeline/page.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fanline::timeline {
namespace {

// Leaves out what does not come before the place.
void CutAt(const std::optional<Position>& place, std::vector<Item>& items) {
  if (!place) return;
  const auto cut = std::find_if(items.begin(), items.end(),
                                [&](const Item& item) { return !IsNewer(item, ItemAt(*place)); });
  items.erase(cut, items.end());
}

// Items that are read of a live timeline to refill a page: a few pages at first, for Redis spends
// ten times as long on all of it; then more than most timelines hold.
constexpr uint32_t kFirstRefill = 4, kRefill = 512;

// One item more than asked for shows that there is a next page.
bool CutToLimit(uint32_t limit, std::vector<Item>& items) {
  if (items.size() <= limit) return false;
  items.resize(limit);
  return true;
}

}  // namespace

PageNeed PageRead::needed() const {
  if (!asked_) return NeedTimeline{query_.older_than, query_.limit + 1};
  if (want_mutes_) return NeedMutes{*want_mutes_};
  if (held_) {
    const uint32_t some = kFirstRefill * (query_.limit + 1);
    return NeedTimeline{looked_at_, refilled_ ? kRefill : std::min(some, kRefill)};
  }
  if (done()) return NothingNeeded{};
  const Pull& pull = beside_ ? *beside_ : *pull_;
  return std::visit([](const auto& need) { return PageNeed(need); }, pull.needed());
}

void PageRead::OnTimeline(LivePage cached) {
  if (cached.state != TimelineState::kReady) {
    held_.reset();  // it is gone since a refill was asked for
    page_.timeline = cached.state;
    return OnNoTimeline();
  }
  if (held_) {
    refilled_ = true;
    return TakeItems(std::move(cached));
  }
  asked_ = true;
  page_.timeline = cached.state;
  page_.as_of = cached.as_of;
  held_ = std::move(cached);
  if (!leaves_out_muted_ || held_->mutes == 0) return GoLive();
  want_mutes_ = held_->mutes;
}

void PageRead::OnMutes(std::shared_ptr<const Mutes> known, bool mutes_unknown) {
  want_mutes_.reset();
  muted_ = std::move(known);
  page_.mutes_unknown |= mutes_unknown;
  LivePage first;
  first.items = std::exchange(held_->items, {});
  first.floor = held_->floor;
  first.reached_floor = held_->reached_floor;
  TakeItems(std::move(first));
}

// Adds items of the live timeline that are not muted, until the page is full, or the timeline ends.
// If the floor has risen since the items before were read, those that it has passed are pulled.
void PageRead::TakeItems(LivePage live) {
  std::vector<Item>& items = held_->items;
  held_->floor = live.floor;
  std::erase_if(items, [&](const Item& item) { return item.created_at <= live.floor; });
  if (!live.items.empty()) looked_at_ = PlaceOf(live.items.back());
  std::copy_if(live.items.begin(), live.items.end(), std::back_inserter(items),
               [this](const Item& item) { return !IsMuted(item.author); });
  const bool passed =
      query_.newer_than && looked_at_ && !IsNewer(ItemAt(*looked_at_), ItemAt(*query_.newer_than));
  if (items.size() > query_.limit) items.resize(query_.limit + 1);
  if (items.size() > query_.limit || live.reached_floor || passed) GoLive();
}

void PageRead::GoLive() {
  LivePage live = *std::exchange(held_, std::nullopt);
  floor_ = live.floor;
  page_.items = std::move(live.items);
  std::erase_if(live.marks.authors, [this](UserId author) { return IsMuted(author); });
  const bool below = query_.older_than && query_.older_than->created_at <= floor_;
  if (below || !live.marks.any()) return TakeLive();
  PullBeside(live.marks);
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
  beside_->OnFollowees(marks.authors, marks.no_reposts);
  wanted_ = Beside{marks.authors, query_.older_than, until, query_.limit + 1};
}

void PageRead::OnBeside(std::vector<Item> items, bool incomplete) {
  page_.incomplete |= incomplete;
  wanted_.reset();
  beside_.reset();
  Merge(items);
  TakeLive();
}

void PageRead::OnFollowees(std::vector<UserId> authors, const Mutes& mutes,
                           const std::vector<UserId>& no_reposts) {
  if (leaves_out_muted_ && !muted_) {
    muted_ = std::make_shared<const Mutes>(mutes);
    page_.mutes_unknown |= mutes.damaged;
  }
  std::erase_if(authors, [this](UserId author) { return IsMuted(author); });
  pull().OnFollowees(std::move(authors), no_reposts);
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
  if (std::exchange(held_, std::nullopt)) page_.timeline = TimelineState::kNotLive;
  // Whoever is muted is read anew with the followees.
  muted_ = nullptr;
  page_.mutes_unknown = false;
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
