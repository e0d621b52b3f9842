// A live timeline as Redis holds it, member by member, to be compared with the truth, and the port
// that reads it. Calls block, each up to its own deadline. They only read: they fence nothing and
// refresh no TTL. One object per thread.
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
  std::vector<Item> items = {};  // as stored, newest first, even those not newer than the floor
  Floor floor = kNoFloor;        // when ready
  Marks marks = {};
  uint64_t mutes = 0;        // as in LivePage
  std::string problem = {};  // why this is no timeline: wrong type, a foreign member ...; or empty
};

class RawTimelines {
 public:
  virtual ~RawTimelines() = default;

  // One step of a walk over the readers that the range's live: index names; one whose timeline is
  // begun anew meanwhile may be missing. *cursor is empty at the walk's begin and at its end.
  virtual Status Listed(Range range, std::string* cursor, std::vector<UserId>* out) = 0;
  // *indexed: false if the range has a complete index that does not name the reader, looked up
  // after the timeline was read.
  virtual Status Read(UserId reader, RawTimeline* out, bool* indexed) = 0;
};

}  // namespace fanline
