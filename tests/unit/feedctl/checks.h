// Facts for feedctl doctor, and ways to look at its checks of them.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "feedctl/doctor/judge.h"

namespace fanline::feedctl {

inline const Check* Find(const Checks& checks, const std::string& name) {
  for (const Check& check : checks) {
    if (check.name == name) return &check;
  }
  return nullptr;
}

inline Level LevelOf(const Checks& checks, const std::string& name) {
  const Check* check = Find(checks, name);
  EXPECT_NE(check, nullptr) << name;
  return check == nullptr ? Level::kAway : check->level;
}

inline std::string TextOf(const Checks& checks, const std::string& name) {
  const Check* check = Find(checks, name);
  return check == nullptr ? "no " + name : check->text;
}

// A range as Redis has it when all is well.
inline redis::RangeState Served(Range range) {
  redis::RangeState state;
  state.range = range;
  state.master = "r:1";
  state.owner = 7;
  state.position = AppliedPosition{.generation = 5, .offset = 100};
  state.readers = 10;
  state.index_complete = true;
  return state;
}

}  // namespace fanline::feedctl
