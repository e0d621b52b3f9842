// What the other sides write to: as many keys as there are live timelines, each as long as one, and
// who of them gets which post.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/pipeline.h"

namespace fanline::bench {

// As long as a timeline's key, in the slots of 16 ranges. `kind`: two letters.
std::string KeyOf(std::string_view kind, uint64_t number);

// Has all others of the kind's keys be copies of the first: Redis makes them faster than it takes
// them.
void CopyFirst(Pipeline& pipeline, std::string_view kind, uint64_t keys);

// `per_post` distinct numbers below `of` for every post, one post after the other.
std::vector<uint32_t> Draw(uint64_t posts, uint32_t per_post, uint64_t of, uint64_t seed);

}  // namespace fanline::bench
