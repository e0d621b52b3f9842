// Compares one timeline as Redis has it with what it should be: its items, its marks, and where it
// has marks or should, the page that a reader gets of it down to its floor. That page is made by
// the code that makes readers' pages (timeline/page.h). Pure, but for its scratch memory: one per
// thread.
#pragma once

#include <vector>

#include "audit/findings.h"
#include "audit/truth.h"
#include "fanline/ports/raw_timeline.h"

namespace fanline::audit {

class TimelineCheck {
 public:
  // `least`: the least a timeline with a floor may hold, half a window. `show`: the most
  // differences to name. `truth` outlives it.
  TimelineCheck(const TimelineTruth& truth, uint32_t least, size_t show)
      : truth_(truth), least_(least), show_(show) {}

  // `index`: of the timeline's reader, in the truth. `indexed`: false when the reader's range has
  // a complete index that does not name the reader. Returns whether nothing is wrong with it.
  bool Check(size_t index, const RawTimeline& timeline, bool indexed);
  // The same without items and marks, where the truth holds no posts: whether the key is a timeline
  // and indexed, and long enough.
  bool CheckWithoutPosts(const RawTimeline& timeline, bool indexed);

  const Findings& findings() const { return findings_; }

 private:
  bool IsLive(const RawTimeline& timeline);
  void CompareWithoutPosts(const RawTimeline& timeline, bool indexed);
  void Compare(size_t index, const RawTimeline& timeline);
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
