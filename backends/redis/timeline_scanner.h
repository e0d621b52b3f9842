// What Redis really holds, for the audit: every timeline's raw members, and the live: indexes. Only
// reads, fences nothing, refreshes no TTL. Pipelined: 15,000 timelines of 450 items take a few
// seconds. Blocking; one thread.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "backends/redis/cluster/masters.h"
#include "backends/redis/keys.h"
#include "fanline/ports/raw_timeline.h"

namespace fanline::redis {

struct RangeIndex {
  bool complete = false;  // live:{tag} lists every reader with a timeline
  std::vector<UserId> readers;
};

class TimelineScanner : public RawTimelines {
 public:
  explicit TimelineScanner(const Options& options);

  // All readers with a timeline key under their range's tag, ready or building, each once,
  // ascending. Found by SCAN on every master. A key that is created or expires during the walk, or
  // whose slot moves, may be missing.
  Status Readers(std::vector<UserId>* out);
  // One RawTimeline per reader, in the order of `readers`, which is ascending. If a master does not
  // answer or no longer serves a reader, the map is renewed and the read repeated once.
  Status Read(std::span<const UserId> readers,
              const std::function<void(const RawTimeline&)>& on_timeline);
  // How long the reader's timeline lives if nobody reads it. None: there is no timeline, or it has
  // no TTL.
  Status TimeToLive(UserId reader, std::optional<std::chrono::milliseconds>* left);
  // Found by ZSCAN: a reader who enters or leaves meanwhile may be missing.
  Status Index(Range range, RangeIndex* out);

  // RawTimelines: the next few of the index, and one timeline with whether the index has it.
  Status Listed(Range range, std::string* cursor, std::vector<UserId>* out) override;
  Status Read(UserId reader, RawTimeline* out, bool* indexed) override;

 private:
  Status ReadChunk(std::span<const UserId> readers, std::vector<RawTimeline>* out);
  Status ReadOf(const Endpoint& master, std::span<const UserId> readers,
                std::vector<RawTimeline>* out);

  const Options options_;
  const Keys keys_;
  Masters masters_;
};

}  // namespace fanline::redis
