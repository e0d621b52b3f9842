// What replaying a dead letter means: whatever caused the record happens once more, so that it
// meets the programs and the truth of today.
//
//   an event, a relation event, a message of relation-log, an entry of the retries: the record is
//     appended to its topic again, byte for byte. It changes rows only as their versions allow.
//   a hint: never the record itself. It was one range's, under the layout and the program of then.
//     Its cause is a change of truth that is committed, so what whoever made that change appends is
//     appended anew: of a post a hint for each range of today, of a relation one for its reader's.
//
// A replay twice, late, or beside a newer change does no harm: events carry versions, hints have no
// verb. Pure; any thread.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fanline/model/bucket.h"
#include "fanline/model/hint.h"
#include "feedctl/dead_letters/letter.h"

namespace fanline::feedctl {

// The record, with headers that say what it is (fanline/wire/dead_letter.h).
struct AppendAgain {
  std::string topic;
  Headers headers;
};

struct HintAnew {
  Hint hint;
  std::vector<Range> ranges;
  Headers headers;
};

struct CannotReplay {
  std::string why;  // and what to do
};

using ReplayPlan = std::variant<AppendAgain, HintAnew, CannotReplay>;

// `source`: the topic of the letter's record.
ReplayPlan PlanOf(const Letter& letter, const std::string& source, const RangeLayout& layout);

// "append to feed-events", "append its hint to 16 ranges"
std::string Describe(const ReplayPlan& plan);

}  // namespace fanline::feedctl
