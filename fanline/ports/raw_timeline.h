// A live timeline as Redis holds it, member by member, for whoever compares it with the truth; and
// the port that reads some. Calls block, each up to a deadline of its own; they only read, fence
// nothing and refresh no TTL. One object per thread.
#pragma once

#include <string>
#include <vector>

#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"
#include "fanline/model/ids.h"
#include "fanline/model/item.h"
#include "fanline/ports/live_timelines.h"

namespace fanline {

struct RawTimeline {
  UserId reader{};
  TimelineState state = TimelineState::kNotLive;
  std::vector<Item> items = {};  // as stored, newest first; also those not newer than the floor
  Floor floor = kNoFloor;        // when ready
  Marks marks = {};
  std::string problem = {};  // why this is no timeline: wrong type, a foreign member ...; or empty
};

class RawTimelines {
 public:
  virtual ~RawTimelines() = default;

  // Some of the readers that the range's live: index names, perhaps one twice: a step of a walk
  // over all of them. *cursor is empty at the walk's begin, and at its end.
  virtual Status Listed(Range range, std::string* cursor, std::vector<UserId>* out) = 0;
  // *indexed: false when the reader's range has a complete index that does not name the reader, as
  // it was after the timeline was read.
  virtual Status Read(UserId reader, RawTimeline* out, bool* indexed) = 0;
};

}  // namespace fanline
