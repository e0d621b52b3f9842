// What replaying a dead letter means: the cause of the record is repeated, so that today's programs
// process it with today's truth.
//
//   an event, a relation event, an entry of the retries: the record is appended to its topic again,
//     byte for byte. Its versions decide what it may change.
//   a message of relation-log: nobody applies it, and the rows may have changed since. An entry of
//     the retries is appended: a reconciler compares the edge's rows and sets them right.
//   a hint: the record is not appended again, since it was made for one range of an earlier layout.
//     Its cause is a committed change of truth, so the hints of that change are appended anew: for
//     a post to each range of today, for a relation to the reader's range.
//
// A replay is harmless when it is repeated, late or beside a newer change: events carry versions,
// and hints only say "look again". Pure; any thread.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "fanline/model/bucket.h"
#include "fanline/model/hint.h"
#include "feedctl/dead_letters/letter.h"

namespace fanline::feedctl {

// The record, or what stands for it, with headers that say what it is (fanline/wire/dead_letter.h).
struct AppendAgain {
  std::string topic;
  std::string key, value;
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

ReplayPlan PlanOf(const Letter& letter, const RangeLayout& layout);

}  // namespace fanline::feedctl
