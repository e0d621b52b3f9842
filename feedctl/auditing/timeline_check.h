// Compares one timeline as Redis has it with what it should be. Pure, but for its scratch memory:
// one per thread.
#pragma once

#include <vector>

#include "backends/redis/timeline_scanner.h"
#include "feedctl/auditing/audit_findings.h"
#include "feedctl/auditing/audit_truth.h"

namespace fanline::feedctl {

class TimelineCheck {
 public:
  // `least`: the least a timeline with a floor may hold, half a window. `show`: the most examples
  // to name. `truth` outlives it.
  TimelineCheck(const AuditTruth& truth, uint32_t least, size_t show)
      : truth_(truth), least_(least), show_(show) {}

  // `index`: of the timeline's reader, in the truth. `indexed`: false when the reader's range has
  // a complete index that does not name the reader.
  void Check(size_t index, const redis::RawTimeline& timeline, bool indexed);

  const AuditFindings& findings() const { return findings_; }

 private:
  void Compare(size_t index, const redis::RawTimeline& timeline);
  void CompareMarks(size_t index, const redis::RawTimeline& timeline);
  void Show(const redis::RawTimeline& timeline, const std::string& what);

  const AuditTruth& truth_;
  const uint32_t least_;
  const size_t show_;
  AuditFindings findings_;
  std::vector<Item> expected_, actual_, missing_, extra_;
};

}  // namespace fanline::feedctl
