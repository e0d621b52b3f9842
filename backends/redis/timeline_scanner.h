// What is really in Redis, for the audit: every timeline's raw members, and the live: indexes.
// Only reads, fences nothing, refreshes no TTL. Blocking; one thread. Pipelined: 15,000 timelines
// of 450 items take a few seconds.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "backends/redis/client/blocking_connection.h"
#include "fanline/ports/reader_ports.h"

namespace fanline::redis {

struct RawTimeline {
  UserId reader{};
  TimelineState state = TimelineState::kNotLive;
  std::vector<Item> items;  // as stored, newest first; also those not newer than the floor
  Floor floor = kNoFloor;   // when ready
  std::string problem;      // why this is no timeline: wrong type, a foreign member ...; or empty
};

struct BucketIndex {
  bool complete = false;  // live:{tag} has its header: it may be used to prune
  std::vector<UserId> readers;
};

class TimelineScanner {
 public:
  explicit TimelineScanner(const Options& options);

  // All readers with a timeline key, ready or building, each once, in no order; found by SCAN. A
  // key created or expired during the walk may or may not be among them.
  Status Readers(std::vector<UserId>* out);
  // One RawTimeline per reader, in order.
  Status Read(std::span<const UserId> readers,
              const std::function<void(const RawTimeline&)>& on_timeline);
  Status Index(Bucket bucket, BucketIndex* out);

 private:
  const Options options_;
  BlockingConnection connection_;
};

}  // namespace fanline::redis
