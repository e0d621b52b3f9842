#include "audit/timeline_check.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fanline::audit {
namespace {

// By author.
std::vector<Mark> MarksOf(const RawTimeline& timeline) {
  const auto& [authors, no_reposts, more] = timeline.marks;
  std::vector<Mark> marks;
  for (const UserId author : authors) {
    marks.push_back({author, std::binary_search(no_reposts.begin(), no_reposts.end(), author)});
  }
  std::sort(marks.begin(), marks.end());
  return marks;
}

// What the timeline's reader gets down to its floor, before it is folded: its `items`, merged with
// the posts of the authors it marks, as the truth has them.
std::vector<Item> ShownBeside(const TimelineTruth& truth, size_t index, const RawTimeline& timeline,
                              std::vector<Item> items) {
  std::vector<Mark> marks = MarksOf(timeline);
  if (timeline.marks.more) {  // the page asks the shards who they are
    marks.clear();
    for (const auto& [mark, required] : truth.MarksOf(index)) marks.push_back(mark);
  }
  std::vector<Item> merged;
  for (const Mark& mark : marks) {
    truth.Merged(mark.author, !mark.no_reposts, timeline.floor, &merged);
  }
  if (merged.empty()) return items;
  std::sort(merged.begin(), merged.end(), IsNewer);

  std::vector<Item> shown;
  std::merge(items.begin(), items.end(), merged.begin(), merged.end(), std::back_inserter(shown),
             IsNewer);
  return shown;
}

}  // namespace

bool TimelineCheck::Check(std::optional<size_t> index, const RawTimeline& timeline, bool indexed) {
  good_ = true;
  if (!IsLive(timeline)) return good_;
  CompareWithoutPosts(timeline, indexed);
  if (index) CompareMutes(*index, timeline);
  if (index) CompareMarks(*index, timeline);
  if (index) Compare(*index, timeline);
  return good_;
}

// Counts a timeline that is not.
bool TimelineCheck::IsLive(const RawTimeline& timeline) {
  if (!timeline.problem.empty()) {
    ++findings_.malformed;
    Found({.reader = timeline.reader, .kind = Kind::kMalformed, .problem = timeline.problem});
  } else if (timeline.state == TimelineState::kBuilding) {
    ++findings_.building;
  } else if (timeline.state == TimelineState::kNotLive) {
    ++findings_.gone;
  } else {
    return true;
  }
  return false;
}

void TimelineCheck::CompareWithoutPosts(const RawTimeline& timeline, bool indexed) {
  ++findings_.timelines;
  if (!indexed) {
    ++findings_.not_indexed;
    Found({.reader = timeline.reader, .kind = Kind::kNotIndexed});
  }
  if (timeline.floor != kNoFloor) {
    ++findings_.trimmed_timelines;
    if (timeline.items.size() < least_) {
      ++findings_.wrong_size;
      Found({.reader = timeline.reader, .kind = Kind::kTooFew, .held = timeline.items.size()});
    }
  }
}

// By another version, pages leave out whom the reader muted at another time.
void TimelineCheck::CompareMutes(size_t index, const RawTimeline& timeline) {
  const uint64_t wanted = truth_.MutesOf(index);
  if (timeline.mutes == wanted) return;
  ++findings_.wrong_mutes;
  Found({.reader = timeline.reader,
         .kind = Kind::kMutes,
         .mutes = timeline.mutes,
         .mutes_wanted = wanted});
}

// Without an author's mark, all of the author's posts that are merged at read are missing. A mark
// that brings reposts, or none, where the reader wants it otherwise is extra, and another is
// missing.
void TimelineCheck::CompareMarks(size_t index, const RawTimeline& timeline) {
  const std::vector<Mark> held = MarksOf(timeline);
  std::vector<Mark> expected;
  for (const auto& [mark, required] : truth_.MarksOf(index)) {
    expected.push_back(mark);
    const bool there = std::binary_search(held.begin(), held.end(), mark);
    if (there || !required || timeline.marks.more) continue;
    ++findings_.missing;
    Found({.reader = timeline.reader, .kind = Kind::kMissingMark, .mark = mark});
  }
  for (const Mark& mark : held) {
    if (std::binary_search(expected.begin(), expected.end(), mark)) continue;
    ++findings_.extra;
    Found({.reader = timeline.reader, .kind = Kind::kExtraMark, .mark = mark});
  }
}

// What a page down to the floor shows, in Before's order. A timeline promises nothing below its
// floor and is not read there.
void TimelineCheck::TakeShown(size_t index, const RawTimeline& timeline) {
  shown_.clear();
  std::copy_if(timeline.items.begin(), timeline.items.end(), std::back_inserter(shown_),
               [&](const Item& item) { return item.created_at > timeline.floor; });
  findings_.items += shown_.size();
  if (timeline.marks.any()) {
    const size_t items = shown_.size();
    shown_ = ShownBeside(truth_, index, timeline, std::move(shown_));
    findings_.merged += shown_.size() - std::min(shown_.size(), items);
  }
  if (!std::is_sorted(shown_.begin(), shown_.end(), TimelineTruth::Before)) {
    std::sort(shown_.begin(), shown_.end(), TimelineTruth::Before);
  }
}

void TimelineCheck::Compare(size_t index, const RawTimeline& timeline) {
  TakeShown(index, timeline);
  truth_.Expected(index, timeline.floor, &expected_);
  if (expected_ == shown_) return;

  missing_.clear();
  extra_.clear();
  Differences(expected_, shown_, &missing_, &extra_);
  findings_.missing += missing_.size();
  findings_.extra += extra_.size();
  for (const Item& item : missing_) {
    Found({.reader = timeline.reader, .kind = Kind::kMissing, .item = item});
  }
  for (const Item& item : extra_) {
    Found({.reader = timeline.reader, .kind = Kind::kExtra, .item = item});
  }
}

void TimelineCheck::Found(Difference difference) {
  good_ = false;
  if (findings_.differences.size() < show_) findings_.differences.push_back(std::move(difference));
}

}  // namespace fanline::audit
