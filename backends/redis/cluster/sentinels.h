// What the Sentinels of a master say about where it is.
// When a master fails, the Sentinels elect one of them to promote a replica. A Sentinel that was
// cut off names the former master until it learns of the new one, so the word with the later
// configuration epoch counts, as among the Sentinels themselves. Pure.
#pragma once

#include <string>

#include "backends/redis/cluster/survey.h"

namespace fanline::redis {

struct SentinelWord {
  Endpoint master;
  uint64_t epoch = 0;
};

// Two questions to a Sentinel. `master`: what it calls the master.
CommandBuffer SentinelQuestions(const std::string& master);
// Reads the answers. Not done: they name no master.
Status ReadWord(const Survey::Heard& heard, const std::string& master, SentinelWord* word);

}  // namespace fanline::redis
