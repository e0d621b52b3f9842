#include "feedctl/auditing/timeline_check.h"

#include <algorithm>

#include "daemon/observe/log.h"
#include "feedctl/support/text.h"

namespace fanline::feedctl {
namespace {

std::string Describe(const Item& item) {
  return "post " + ToString(item.post) + ", created " + daemon::Rfc3339(item.created_at);
}

}  // namespace

void TimelineCheck::Check(size_t index, const redis::RawTimeline& timeline, bool indexed) {
  if (!timeline.problem.empty()) {
    ++findings_.malformed;
    return Show(timeline, "no timeline: " + QuotedShort(timeline.problem));
  }
  if (timeline.state == TimelineState::kBuilding) {
    ++findings_.building;
    return;
  }
  if (timeline.state == TimelineState::kNotLive) {
    ++findings_.gone;
    return;
  }
  ++findings_.timelines;
  if (!indexed) {
    ++findings_.not_indexed;
    Show(timeline, "live, but not in the index of its range: pushes pass it over");
  }
  if (timeline.floor != kNoFloor) {
    ++findings_.trimmed_timelines;
    if (timeline.items.size() < least_) {
      ++findings_.wrong_size;
      Show(timeline, "holds " + Counted(timeline.items.size(), "item") + " only, and has a floor");
    }
  }
  CompareMarks(index, timeline);
  Compare(index, timeline);
}

// Without its mark an author's posts that are merged at read are missing, all of them.
void TimelineCheck::CompareMarks(size_t index, const redis::RawTimeline& timeline) {
  std::vector<UserId> held = timeline.marks.authors;
  std::sort(held.begin(), held.end());
  const auto expected = truth_.MarksOf(index);
  for (const auto& [author, required] : expected) {
    const bool there = std::binary_search(held.begin(), held.end(), author);
    if (there || !required || timeline.marks.more) continue;
    ++findings_.missing;
    Show(timeline, "missing the mark of author " + ToString(author));
  }
  for (const UserId author : held) {
    const auto found = std::lower_bound(expected.begin(), expected.end(), std::pair(author, false));
    if (found != expected.end() && found->first == author) continue;
    ++findings_.extra;
    Show(timeline, "extra mark of author " + ToString(author));
  }
}

// Below its floor a timeline promises nothing and is not read.
void TimelineCheck::Compare(size_t index, const redis::RawTimeline& timeline) {
  actual_.clear();
  std::copy_if(timeline.items.begin(), timeline.items.end(), std::back_inserter(actual_),
               [&](const Item& item) { return item.created_at > timeline.floor; });
  if (!std::is_sorted(actual_.begin(), actual_.end(), AuditTruth::Before)) {
    std::sort(actual_.begin(), actual_.end(), AuditTruth::Before);
  }
  truth_.Expected(index, timeline.floor, &expected_);
  findings_.items += actual_.size();
  if (expected_ == actual_) return;

  missing_.clear();
  extra_.clear();
  Differences(expected_, actual_, &missing_, &extra_);
  findings_.missing += missing_.size();
  findings_.extra += extra_.size();
  for (const Item& item : missing_) {
    if (findings_.examples.size() >= show_) break;
    Show(timeline, "missing " + Describe(item) + ", of author " +
                       ToString(truth_.AuthorOf(index, item).value_or(UserId{})));
  }
  for (const Item& item : extra_) Show(timeline, "extra " + Describe(item));
}

void TimelineCheck::Show(const redis::RawTimeline& timeline, const std::string& what) {
  if (findings_.examples.size() >= show_) return;
  findings_.examples.push_back("reader " + ToString(timeline.reader) + ": " + what);
}

}  // namespace fanline::feedctl
