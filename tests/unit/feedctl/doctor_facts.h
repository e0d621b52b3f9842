// Facts about an installation of three ranges for the tests of feedctl doctor, and what its checks
// of them say.
#pragma once

#include <string>

#include "feedctl/doctor/judge.h"

namespace fanline::feedctl {

inline const Why kGone{"cannot reach it", "start it"};

// "look: what is wrong -> what to type"
inline std::string Told(const Check& check) {
  const Json json = ToJson({check}, "docs")["checks"][0];
  return json["level"].get<std::string>() + ": " + check.text +
         (check.advice.empty() ? "" : " -> ") + check.advice;
}

// The same of the check with this name; empty: there is none.
inline std::string Told(const Checks& checks, const std::string& name) {
  for (const Check& check : checks) {
    if (check.name == name) return Told(check);
  }
  return "";
}

// A range as Redis has it when all is well.
inline redis::RangeState Served(Range range) {
  return {.range = range,
          .master = "r:1",
          .owner = 7,
          .position = AppliedPosition{.generation = 5, .offset = 100},
          .readers = 10,
          .index_complete = true};
}

inline RedisFacts Redis() {
  return {.address = "r:1", .ranges = {Served(0), Served(1), Served(2)}};
}

inline kafka::GroupOwners Owners() {
  const kafka::GroupOwner owner{"fanline-pusher-h-1", "h"};
  return {{0, owner}, {1, owner}, {2, owner}};
}

inline mysql::Installation ThreeRanges(uint64_t generation) {
  return {.partitions = 3, .generation = generation};
}

}  // namespace fanline::feedctl
