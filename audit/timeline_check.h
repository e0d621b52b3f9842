// Compares one timeline in Redis with what it should be: its items, its marks, and the version of
// its reader's mutes that it names. With marks it compares what a reader's page is made of down to
// the floor: the items, and the posts of those authors. Pure but for its scratch memory: one per
// thread.
#pragma once

#include <optional>
#include <vector>

#include "audit/findings.h"
#include "audit/truth.h"
#include "fanline/ports/raw_timeline.h"

namespace fanline::audit {

class TimelineCheck {
 public:
  // `least`: the fewest items a timeline with a floor may hold, half a window. `show`: the most
  // differences to list. `truth` outlives it.
  TimelineCheck(const TimelineTruth& truth, uint32_t least, size_t show)
      : truth_(truth), least_(least), show_(show) {}

  // `index`: the reader's number in the truth; none: the truth has no posts, and only whether the
  // key is a timeline, indexed and long enough is checked. `indexed`: false if the reader's range
  // has a complete index that does not name the reader. Returns whether the timeline is right.
  bool Check(std::optional<size_t> index, const RawTimeline& timeline, bool indexed);

  const Findings& findings() const { return findings_; }

 private:
  bool IsLive(const RawTimeline& timeline);
  void CompareWithoutPosts(const RawTimeline& timeline, bool indexed);
  void Compare(size_t index, const RawTimeline& timeline);
  void CompareMutes(size_t index, const RawTimeline& timeline);
  void CompareMarks(size_t index, const RawTimeline& timeline);
  void TakeShown(size_t index, const RawTimeline& timeline);
  void Found(Difference difference);

  const TimelineTruth& truth_;
  const uint32_t least_;
  const size_t show_;
  Findings findings_;
  bool good_ = true;  // the timeline at hand
  std::vector<Item> expected_, shown_, missing_, extra_;
};

}  // namespace fanline::audit
