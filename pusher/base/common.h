// What the two halves of a pusher, ranges and units, have in common.
#pragma once

#include <cstdint>
#include <random>

#include "fanline/base/mutation_switches.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/hint_log.h"
#include "fanline/ports/live_timelines.h"
#include "fanline/ports/port.h"
#include "fanline/ports/post_store.h"
#include "fanline/ports/range_owners.h"
#include "fanline/ports/truth.h"
#include "pusher/base/limits.h"
#include "pusher/base/metrics.h"

namespace fanline::pusher {

struct Ports {
  Port<ReadPostStates, ReadFollowerPage, ReadSync, ReadMutes> truth;
  Port<ClaimRange, ReadNews, ResetRange, SavePosition, TimelineBatch, ApplySync, SetMutes,
       DropTimeline, MarkPart>
      timelines;
  Port<AcquireRange, RaiseEpoch, SaveStart, SettleRange> owners;
  Port<AppendDeadLetter> dead_letters;
  Port<WeighAuthor> weights;
  Metrics& metrics;
};

struct Setup {
  RangeLayout layout{16};
  uint64_t topic_generation = 1;
  uint64_t seed = 1;  // of the jitter and of the starts' tokens; differs in each process
  MutationSwitches guards{};
  ShardMap shards = ShardMap::Even(1);
  bool own_posts = false;  // home timelines hold the reader's own posts
};

struct Common {
  const Ports ports;
  const Setup setup;
  const Limits limits;
  uint64_t ids = 0;  // of requests
  std::mt19937_64 random{setup.seed};
};

}  // namespace fanline::pusher
