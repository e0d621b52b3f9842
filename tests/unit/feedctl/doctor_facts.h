// Facts about an installation of three ranges, for the tests of feedctl doctor's checks.
#pragma once

#include <optional>
#include <vector>

#include "feedctl/doctor/judge.h"
#include "tests/unit/feedctl/checks.h"

namespace fanline::feedctl {

inline const Why kGone{"cannot reach it", "start it"};

inline RedisFacts Redis() {
  return {.address = "r:1", .ranges = {Served(0), Served(1), Served(2)}};
}

inline kafka::GroupOwners Owners() {
  const kafka::GroupOwner owner{"fanline-pusher-h-1", "h"};
  return {{0, owner}, {1, owner}, {2, owner}};
}

inline mysql::Installation ThreeRanges(uint64_t generation) {
  mysql::Installation installation;
  installation.partitions = 3;
  installation.generation = generation;
  return installation;
}

// A shorter call, so that a test names only its own facts.
inline Checks Ranges(const RedisFacts& redis, uint64_t generation,
                     const std::optional<kafka::GroupOwners>& owners,
                     const std::vector<ShardFacts>& shards) {
  return JudgeRanges(ThreeRanges(generation), redis, {.owners = owners}, shards);
}

// Shards whose contents are unknown.
inline const std::vector<ShardFacts> kSilent = {{.away = kGone},
                                                {.wrong = {"another's"}},
                                                {.installed = false},
                                                {.missing = {"0002_x.sql"}, .read = false}};

}  // namespace fanline::feedctl
