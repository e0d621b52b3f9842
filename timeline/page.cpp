#include "timeline/page.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fanline::timeline {
namespace {

void LeaveOutRepostsBy(const std::vector<UserId>& authors, std::vector<Item>& items) {
  std::erase_if(items, [&](const Item& item) {
    return item.original && std::binary_search(authors.begin(), authors.end(), item.author);
  });
}

}  // namespace

PageNeed PageRead::needed() const {
  if (!asked_) return NeedTimeline{query_.older_than, query_.limit + 1, LooksInFront()};
  if (want_mutes_) return NeedMutes{*want_mutes_};
  if (!want_originals_.empty()) return NeedOriginals{want_originals_};
  if (want_sources_) return *want_sources_;
  if (done()) return NothingNeeded{};
  if (stage_ == Stage::kTimeline) return NeedTimeline{looked_at_, RefillOf(reads_, query_.limit)};
  const Pull& pull = stage_ == Stage::kBeside ? *beside_ : *pull_;
  return std::visit([](const auto& need) { return PageNeed(need); }, pull.needed());
}

// Asks for what is not known of the sources so far, or goes on.
void PageRead::Advance() {
  do {
    want_originals_ = fold_.unknown();
    if (want_originals_.empty() && !check_by_.empty()) SearchInFront();
  } while (Settled() && Step());
}

bool PageRead::Step() {
  switch (stage_) {
    case Stage::kTimeline:
      return GoOnLive();
    case Stage::kBeside:
      return GoOnBeside();
    case Stage::kBelow:
      return GoOnBelow();
    case Stage::kDone:
      break;
  }
  return false;
}

// ---- the live timeline

void PageRead::OnTimeline(LivePage cached) {
  if (cached.state != TimelineState::kReady) {
    OnNoTimeline();  // it is gone since a refill was asked for
    page_.timeline = cached.state;
    return;
  }
  if (std::exchange(asked_, true)) {
    ++reads_;
    return TakeItems(cached);
  }
  reads_ = 1;
  page_.timeline = cached.state;
  page_.as_of = cached.as_of;
  marks_ = std::move(cached.marks);
  if (!leaves_out_muted_ || cached.mutes == 0) return TakeItems(cached);
  want_mutes_ = cached.mutes;
  held_ = std::move(cached);
}

void PageRead::OnMutes(std::shared_ptr<const Mutes> known, bool mutes_unknown) {
  want_mutes_.reset();
  muted_ = std::move(known);
  page_.mutes_unknown |= mutes_unknown;
  fold_.Mute(muted_);
  std::erase_if(marks_.authors, [this](UserId author) { return IsMuted(author); });
  const LivePage first = *std::exchange(held_, std::nullopt);
  TakeItems(first);
}

// If the floor has risen since the items before were read, those that it has passed are pulled.
void PageRead::TakeItems(const LivePage& live) {
  floor_ = live.floor;
  if (floor_ != kNoFloor) fold_.CutAt({floor_, kFirstOfMoment});
  if (!live.items.empty()) looked_at_ = PlaceOf(live.items.back());
  fold_.PutInFront(live.in_front);
  fold_.Add(live.items);
  const bool passed =
      query_.newer_than && looked_at_ && !IsNewer(ItemAt(*looked_at_), ItemAt(*query_.newer_than));
  live_ended_ = live.reached_floor || passed;
  Advance();
}

bool PageRead::IsAboveFloor() const {
  return !query_.older_than || query_.older_than->created_at > floor_;
}

bool PageRead::GoOnLive() {
  if (!live_ended_ && Held() <= query_.limit) {
    if (!ShowsLittle()) return false;  // a refill is needed
    ends_at_ = looked_at_;
    live_ended_ = true;
  }
  if (marks_.any() && IsAboveFloor() && !beside_whole_) {
    BeginBeside(beside_from_ ? beside_from_ : query_.older_than);
  } else {
    TakeLive();
  }
  return true;
}

// The rest may be as little, and what is below the floor takes ten times as long. Whoever wants
// more asks for the next page; most readers do not.
bool PageRead::ShowsLittle() const {
  constexpr size_t kLittle = 5;  // a fifth
  const size_t held = Held();
  return held > 0 && fold_.size() > kLittle * held;
}

// ---- what is merged into it

// Pulls what is merged at read into the same part of the timeline: behind the place asked for,
// above the floor, and before the first item of the next page.
void PageRead::BeginBeside(const std::optional<Position>& from) {
  std::optional<Position> until = query_.newer_than;
  const auto comes_before = [&](const Position& place) {
    return !until || IsNewer(ItemAt(place), ItemAt(*until));
  };
  const Position floor{floor_, kFirstOfMoment};
  if (floor_ != kNoFloor && comes_before(floor)) until = floor;
  if (ends_at_ && comes_before(*ends_at_)) until = ends_at_;
  const auto next = fold_.PlaceOfLast(query_.limit + 1);
  beside_whole_ = !next || !comes_before(*next);
  if (!beside_whole_) until = next;
  const bool first = stage_ == Stage::kTimeline && !beside_from_;
  stage_ = Stage::kBeside;
  beside_until_ = until;
  awaits_ = true;
  // If authors are named, all are, the reader among them.
  beside_.emplace(PullLimits{.want = query_.limit + 1}, from, until, Pulled::kMergedAtRead,
                  marks_.more ? own_ : std::nullopt);
  if (marks_.more) return;
  beside_->OnFollowees(marks_.authors, marks_.no_reposts);
  wanted_ = Beside{marks_.authors, from, until, query_.limit + 1};
  if (first && LooksInFront()) wanted_->in_front_of = query_.older_than;
}

void PageRead::OnBeside(std::vector<Item> items, bool incomplete, std::vector<Item> in_front) {
  page_.incomplete |= incomplete;
  beside_ended_.reset();
  if (wanted_ && !items.empty() && items.size() >= wanted_->want) {
    beside_ended_ = PlaceOf(items.back());
  }
  LeaveOutRepostsBy(marks_.no_reposts, items);
  LeaveOutRepostsBy(marks_.no_reposts, in_front);
  fold_.PutInFront(in_front);
  TakeBeside(items);
}

void PageRead::TakeBeside(const std::vector<Item>& items) {
  wanted_.reset();
  beside_.reset();
  awaits_ = false;
  ++beside_reads_;
  fold_.Merge(items);
  Advance();
}

// Items that were folded, or turned out to stand in front of the cursor, make room for more than
// was asked for.
bool PageRead::GoOnBeside() {
  if (awaits_) return false;
  const auto read_to = beside_ended_ ? beside_ended_ : beside_until_;
  if (read_to && fold_.Count(query_.limit + 1, read_to) > query_.limit) {
    fold_.CutAt(*read_to, true);
    TakeLive();
  } else if (beside_ended_ && beside_reads_ == kMostReads) {
    EndAt(*beside_ended_);
  } else if (beside_ended_ || (!beside_whole_ && (live_ended_ || Held() > query_.limit))) {
    BeginBeside(read_to);
  } else if (!live_ended_) {
    beside_from_ = read_to;
    stage_ = Stage::kTimeline;
  } else {
    TakeLive();
  }
  return true;
}

void PageRead::TakeLive() {
  if (query_.newer_than) fold_.CutAt(*query_.newer_than);
  if (ends_at_) return EndAt(*ends_at_);
  const size_t held = Held();
  page_.cached = std::min<size_t>(held, query_.limit);
  more_ = held > query_.limit;
  // The timeline is complete above the floor, so it holds all before the place if that lies above.
  const bool all =
      floor_ == kNoFloor || (query_.newer_than && query_.newer_than->created_at > floor_);
  if (!more_ && !all) more_ = held == query_.limit;  // whether there is more is not worth a read
  stage_ = Stage::kDone;
  if (more_ || all) return;
  ShowsLittle() ? EndAt({floor_, kFirstOfMoment}) : PullTheRest();
}

// ---- what is pulled

void PageRead::OnNoTimeline() {
  page_.timeline = TimelineState::kNotLive;
  asked_ = true;
  held_.reset();
  want_mutes_.reset();
  // Whoever is muted is read anew with the followees.
  muted_ = nullptr;
  page_.mutes_unknown = false;
  fold_ = Fold(query_.reposts);
  check_by_.clear();
  PullTheRest();
  Advance();
}

void PageRead::PullTheRest() {
  stage_ = Stage::kBelow;
  awaits_ = true;
  const auto last = fold_.last();
  const auto rest = static_cast<uint32_t>(query_.limit - Held());
  pull_.emplace(PullLimits{.want = rest}, last ? last : query_.older_than, query_.newer_than,
                Pulled::kAll, own_);
  reads_ = 1;
}

void PageRead::OnFollowees(std::vector<UserId> authors, const Mutes& mutes,
                           const std::vector<UserId>& no_reposts) {
  if (leaves_out_muted_ && !muted_) {
    muted_ = std::make_shared<const Mutes>(mutes);
    page_.mutes_unknown |= mutes.damaged;
    fold_.Mute(muted_);
  }
  std::erase_if(authors, [this](UserId author) { return IsMuted(author); });
  if (stage_ == Stage::kBeside) {
    marks_.no_reposts = no_reposts;
  } else if (!page_.live() || !IsAboveFloor()) {  // else the timeline has answered it
    CheckBy(authors, no_reposts);
  }
  pull().OnFollowees(std::move(authors), no_reposts);
  GoOn();
}

void PageRead::OnLastAt(std::vector<AuthorLastAt> authors) {
  const bool named = wanted_.has_value();
  const bool first = !beside_from_ && beside_reads_ == 0;
  wanted_.reset();
  pull().OnLastAt(std::move(authors));
  if (stage_ == Stage::kBeside && first) {
    CheckBy(named ? marks_.authors : pull().marked(), marks_.no_reposts);
  }
  GoOn();
}

void PageRead::OnItems(ItemsRead read) {
  pull().OnItems(std::move(read));
  GoOn();
}

void PageRead::GoOn() {
  if (!pull().done()) return;
  const bool ended = pull().floor() != kNoFloor && !pull().items().empty();
  if (stage_ == Stage::kBeside) {
    beside_ended_ = ended ? std::optional(PlaceOf(pull().items().back())) : std::nullopt;
    const std::vector<Item> items = pull().items();
    return TakeBeside(items);
  }
  TakePulled();
  Advance();
}

void PageRead::TakePulled() {
  awaits_ = !pull_->done();
  if (!awaits_) fold_.Add(pull_->items());
}

bool PageRead::GoOnBelow() {
  if (awaits_) return false;
  const size_t held = Held();
  const bool ended = pull_->floor() == kNoFloor;
  if (ended || held >= query_.limit) {
    more_ = !ended || held > query_.limit;
    stage_ = Stage::kDone;
  } else if (reads_ == kMostReads) {
    EndAt(PlaceOf(pull_->items().back()));
  } else {
    pull_->GoOn(RefillOf(reads_, query_.limit));
    ++reads_;
    TakePulled();
  }
  return true;
}

// The page shows nothing behind the place, however few it shows. The next one goes on from there.
void PageRead::EndAt(const Position& place) {
  fold_.CutAt(place, true);
  page_.cached = page_.live() ? std::min<size_t>(Held(), query_.limit) : 0;
  more_ = true;
  ends_at_ = place;
  stage_ = Stage::kDone;
}

// ---- reposts

bool PageRead::LooksInFront() const {
  return query_.older_than && query_.reposts == Reposts::kMerge;
}

void PageRead::CheckBy(std::vector<UserId> authors, const std::vector<UserId>& no_reposts) {
  if (!LooksInFront()) return;
  if (own_) authors.push_back(*own_);
  std::sort(authors.begin(), authors.end());
  reposters_.clear();
  std::set_difference(authors.begin(), authors.end(), no_reposts.begin(), no_reposts.end(),
                      std::back_inserter(reposters_));
  check_by_ = std::move(authors);
}

// Their own posts are known by the states of originals. Their reposts are searched for.
void PageRead::SearchInFront() {
  const std::vector<Original> unchecked = fold_.Unchecked();
  for (const Original& original : unchecked) {
    const auto at = fold_.PublishedAt(original);
    const bool in_front = at && !IsNewer(ItemAt(*query_.older_than), Item{original.post, *at}) &&
                          std::binary_search(check_by_.begin(), check_by_.end(), original.author);
    if (in_front) fold_.PutInFront(original);
  }
  if (unchecked.empty() || reposters_.empty()) return;
  want_sources_ = NeedSources{unchecked, reposters_, *query_.older_than};
}

void PageRead::OnOriginals(const std::vector<std::optional<PostState>>& states) {
  const std::vector<Original> asked = std::exchange(want_originals_, {});
  for (size_t i = 0; i < asked.size(); ++i) {
    const bool known = i < states.size() && states[i].has_value();
    page_.incomplete |= !known;
    fold_.Know(asked[i], known ? states[i] : std::nullopt);
  }
  Advance();
}

void PageRead::OnSources(const std::vector<Original>& in_front, bool incomplete) {
  page_.incomplete |= incomplete;
  for (const Original& original : in_front) fold_.PutInFront(original);
  want_sources_.reset();
  Advance();
}

Page PageRead::Take() {
  const bool all = !more_ && !query_.newer_than;
  static_cast<Folded&>(page_) = fold_.Take(query_.limit, all);
  const size_t shown = page_.items.size();
  if (more_) page_.next = shown == query_.limit ? PlaceOf(page_, shown - 1) : ends_at_;
  return std::move(page_);
}

}  // namespace fanline::timeline
