#include "timeline/pull.h"

#include <algorithm>
#include <set>

namespace fanline::timeline {
namespace {

// The first span aims at this many times `want`: a second read costs more than surplus rows.
constexpr double kAimed = 2.5;
constexpr double kLeastPostsOfAnAuthor = 8;
// A round trip costs more than rows that come for nothing, and each read is bounded anyway.
constexpr int kSpansBeforeAll = 2;
// One may be an author of many posts, whose items narrow the span by themselves.
constexpr int kCrowdedReads = 1;
constexpr UnixMs kLongest = kMaxCreatedAt + 1;  // longer than any history

}  // namespace

Pull::Pull(PullLimits limits, std::optional<Position> after, std::optional<Position> until,
           Pulled which, std::optional<UserId> own)
    : limits_(limits), after_(after), until_(until), which_(which), own_(own) {
  if (limits_.items_per_read == 0) limits_.items_per_read = std::max(1u, 4 * limits_.want);
  if (until_) bottom_ = until_->created_at - 1;  // items of the same time may come before it
}

PullNeed Pull::needed() const {
  switch (stage_) {
    case Stage::kFollowees:
      return NeedFollowees{};
    case Stage::kLastAt:
      return NeedLastAt{followees_};
    case Stage::kItems: {
      if (partial_) {
        TimeSpan rest = span_;
        rest.behind = partial_end_;
        return NeedItems{{partial_->posts}, rest, static_cast<uint32_t>(most() + 1)};
      }
      NeedItems need{{}, span_, limits_.items_per_read};
      for (const Source& source : unread_) need.posts.push_back(source.posts);
      return need;
    }
    case Stage::kDone:
      break;
  }
  return NothingNeeded{};
}

void Pull::OnFollowees(std::vector<UserId> authors, std::vector<UserId> no_reposts) {
  followees_ = std::move(authors);
  no_reposts_ = std::move(no_reposts);
  if (own_) followees_.push_back(*own_);
  stage_ = followees_.empty() ? Stage::kDone : Stage::kLastAt;
}

void Pull::OnLastAt(std::vector<AuthorLastAt> authors) {
  for (const AuthorLastAt& author : authors) {
    if (author.marked) marked_.push_back(author.author);
    if (author.last_at == 0) continue;
    const bool reposts = !std::binary_search(no_reposts_.begin(), no_reposts_.end(), author.author);
    if (which_ != Pulled::kMergedAtRead) {
      sources_.push_back({{author.author, true, reposts}, author.last_at});
    }
    if (which_ != Pulled::kPushed && author.marked) {
      sources_.push_back({{author.author, false, reposts}, author.last_at});
    }
  }
  std::sort(sources_.begin(), sources_.end(), [](const Source& a, const Source& b) {
    return a.last_at != b.last_at ? a.last_at > b.last_at : a.posts < b.posts;
  });
  if (sources_.empty() || limits_.want == 0) {
    End();
    return;
  }
  Begin();
}

void Pull::GoOn(uint32_t want) {
  limits_.want = want;
  limits_.items_per_read = std::max(1u, 4 * want);
  if (!items_.empty()) after_ = PlaceOf(items_.back());
  items_.clear();
  floor_ = kNoFloor;
  span_ = {};
  length_ = 0;
  spans_ = 0;
  Begin();
}

void Pull::Begin() {
  stage_ = Stage::kItems;
  newest_ = sources_.front().last_at;
  const UnixMs length = FirstLength();
  if (after_) newest_ = std::min(newest_, after_->created_at);  // authors were as busy then
  span_.behind = after_;
  StartSpan(length);
}

// Estimates how far back the newest items go, by when each author last posted. An author whose last
// post is `age` old counts for about t / age posts within t. A cap keeps an author who has just
// posted from counting for all of them.
UnixMs Pull::FirstLength() const {
  const double aimed = kAimed * (limits_.want + 1);
  const double most_of_one =
      std::max(kLeastPostsOfAnAuthor, 2 * aimed / static_cast<double>(sources_.size()));
  UnixMs shortest = 1, longest = kLongest;
  while (shortest < longest) {
    const UnixMs length = shortest + (longest - shortest) / 2;
    double expected = 0;
    for (const Source& source : sources_) {
      const UnixMs age = newest_ - source.last_at;
      if (age >= length || expected >= aimed) break;
      expected += std::min(
          most_of_one, static_cast<double>(length) / static_cast<double>(std::max<UnixMs>(age, 1)));
    }
    if (expected >= aimed) {
      longest = length;
    } else {
      shortest = length + 1;
    }
  }
  return shortest;
}

// The next span begins where the one before ended; `length` counts from the newest end of all.
void Pull::StartSpan(UnixMs length) {
  if (length_ > 0) {
    span_.up_to = span_.above;
    span_.behind.reset();
  }
  length_ = length;
  ++spans_;
  crowded_ = 0;
  span_.above = length < newest_ - bottom_.value_or(0) ? newest_ - length : bottom_;
  unread_ = sources_;
  Narrow();
  if (unread_.empty()) SpanRead();
}

// Shortens the span by the items held, and drops unread authors who posted nothing in it.
void Pull::Narrow() {
  std::sort(items_.begin(), items_.end(), IsNewer);
  // Only the newest of the items left out matters, so one more than wanted stays.
  if (items_.size() > most() + 1) items_.resize(most() + 1);
  // An unread author may have an item of the same time that comes before the last one.
  if (items_.size() > most() && items_.back().created_at - 1 > span_.above.value_or(0)) {
    span_.above = items_.back().created_at - 1;
  }
  const auto outside = [this](const Source& source) {
    return span_.above && source.last_at <= *span_.above;
  };
  std::erase_if(unread_, outside);
  if (partial_ &&
      (outside(*partial_) || (span_.above && partial_end_.created_at <= *span_.above))) {
    partial_.reset();
  }
}

bool Pull::Wants(const Item& item) const { return !until_ || IsNewer(item, ItemAt(*until_)); }

void Pull::OnItems(ItemsRead read) {
  bool shortens = false;
  if (partial_) {
    // If the author's newest most() + 1 came, nothing behind them is wanted.
    const bool all = std::all_of(read.items.begin(), read.items.end(),
                                 [this](const Item& item) { return Wants(item); });
    if (all || !read.partial || read.items.empty()) {
      partial_.reset();
    } else {
      partial_end_ = PlaceOf(read.items.back());
    }
  } else {
    const std::set<PostsOf> left(read.unread.begin(), read.unread.end());
    if (read.partial && !read.items.empty()) {
      const auto found = std::find_if(unread_.begin(), unread_.end(), [&](const Source& source) {
        return source.posts == *read.partial;
      });
      if (found != unread_.end()) partial_ = *found;
      partial_end_ = PlaceOf(read.items.back());
    }
    const size_t asked = unread_.size();
    std::erase_if(unread_, [&](const Source& source) { return !left.contains(source.posts); });
    const bool crowded = 2 * unread_.size() > asked && !read.items.empty();
    crowded_ = crowded ? crowded_ + 1 : 0;
    shortens = crowded_ > kCrowdedReads;
  }
  for (const Item& item : read.items) {
    if (Wants(item)) items_.push_back(item);
  }
  if (shortens) Shorten(read.items);
  Narrow();
  if (!partial_ && unread_.empty()) SpanRead();
}

// Authors are read in the order of their ids. If ids rise with time, those whose posts are the
// oldest come first, and each read of such a span would narrow it by these few alone.
void Pull::Shorten(std::vector<Item> read) {
  const auto middle = read.begin() + static_cast<std::ptrdiff_t>(read.size() / 2);
  std::nth_element(read.begin(), middle, read.end(), IsNewer);
  const UnixMs newest = span_.up_to.value_or(newest_);
  const UnixMs above = middle->created_at + (newest - middle->created_at) / 2;
  if (above <= span_.above.value_or(0) || above >= newest) return;
  span_.above = above;
  length_ = newest_ - above;
  std::erase_if(items_, [above](const Item& item) { return item.created_at <= above; });
}

// The whole span is held. The second one makes the length 2 to 16 times as long, as the number of
// items so far suggests. The third takes all there is: authors of few posts, or of old ones, would
// else take a dozen.
void Pull::SpanRead() {
  if (enough() || span_.above == bottom_) {
    End();
    return;
  }
  if (spans_ == kSpansBeforeAll) return StartSpan(kLongest);
  const double found = static_cast<double>(std::max<size_t>(items_.size(), 1));
  const double times = std::clamp(1.5 * (limits_.want + 1) / found, 2.0, 16.0);
  StartSpan(static_cast<UnixMs>(
      std::min(static_cast<double>(kLongest), static_cast<double>(length_) * times)));
}

void Pull::End() {
  stage_ = Stage::kDone;
  const UnixMs read_to = span_.above.value_or(kNoFloor);
  if (!enough()) {
    if (limits_.want == 0 && !sources_.empty()) floor_ = sources_.front().last_at;
    return;
  }
  // Nothing above the floor may be left out, so the cut lies between two times.
  size_t end = limits_.want;
  while (end < items_.size() && items_[end].created_at == items_[limits_.want - 1].created_at)
    ++end;
  if (end > most()) end = limits_.want;  // too many share one time: the floor is among them
  floor_ = end < items_.size() ? items_[end].created_at : read_to;
  items_.resize(end);
}

}  // namespace fanline::timeline
