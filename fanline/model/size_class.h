// Classes of follower-list size: the label of the publish-to-delivery histograms. They are few and
// fixed, so that a label identifies no user.
#pragma once

#include <cstdint>

namespace fanline {

inline constexpr const char* kSizeClasses[] = {"lt_100",  "lt_1k", "lt_10k",
                                               "lt_100k", "lt_1m", "ge_1m"};
inline constexpr int kSizeClassCount = 6;

constexpr int SizeClassOf(uint64_t followers) {
  uint64_t bound = 100;
  int index = 0;
  for (; index < kSizeClassCount - 1 && followers >= bound; ++index) bound *= 10;
  return index;
}

}  // namespace fanline
