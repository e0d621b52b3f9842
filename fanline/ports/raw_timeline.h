// A live timeline as Redis holds it, member by member, for whoever compares it with the truth.
#pragma once

#include <string>
#include <vector>

#include "fanline/model/ids.h"
#include "fanline/model/item.h"
#include "fanline/ports/live_timelines.h"

namespace fanline {

struct RawTimeline {
  UserId reader{};
  TimelineState state = TimelineState::kNotLive;
  std::vector<Item> items;  // as stored, newest first; also those not newer than the floor
  Floor floor = kNoFloor;   // when ready
  Marks marks;
  std::string problem;  // why this is no timeline: wrong type, a foreign member ...; or empty
};

}  // namespace fanline
