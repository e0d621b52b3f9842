// Live timelines on a real Redis, one node or a Cluster (fanline/ports/live_timelines.h says what
// each request means, schemas/redis/README.md what is stored).
//
// All keys of a range lie on one node. A request goes to the node that serves its range by the
// latest map (cluster/topology.h); each such node has a thread and a connection of its own
// (node.h), so the ranges of other nodes never notice that one is away. A range that comes to
// another node - a failover, a slot that was moved - is not claimed there: its next request is
// refused with needs_claim. A node that is no Cluster is the map in which all ranges are its own.
//
// Replies come from the adapter's own threads; from within Submit beyond max_requests, or when
// nobody serves the range. While a node is away, every request of its ranges is answered kLater
// ("redis") at once, and the adapter reconnects with back-off.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/redis/answers.h"
#include "backends/redis/client/options.h"
#include "fanline/base/log_sink.h"

namespace fanline::redis {

// Ranges that are not served for one reason, mostly that their node is away.
struct RangesAway {
  std::string reason;
  std::vector<Range> ranges;  // in order
  friend bool operator==(const RangesAway&, const RangesAway&) = default;
};

class RedisLiveTimelines final
    : public ServesAll<RedisLiveTimelines, ClaimRange, ResetRange, SavePosition, TimelineBatch,
                       ReadTimeline, ApplySync, DropTimeline, MarkPart> {
 public:
  // From the adapter's threads; calls of one of them come one at a time.
  struct Events {
    // Called at each change, for readiness: all ranges that no node with a session serves. Empty:
    // every range is served.
    std::function<void(const std::vector<RangesAway>& away)> on_away;
    // How many ranges were left between two nodes: their slot has been migrating for longer than
    // slot_left_after. Called with each new map.
    std::function<void(size_t ranges)> on_left_migrating;
  };

  // `options` must have no Problem(). Starts to connect at once.
  RedisLiveTimelines(const Options& options, LogSink log, Events events);
  ~RedisLiveTimelines() override;  // open requests stay unanswered

  template <class R>
  void Serve(R request, ReplyTo<typename R::Reply> to) {
    Take(Asked<R>{std::move(request), to});
  }

 private:
  class Routes;
  void Take(OfEach<Asked> asked);

  const std::unique_ptr<Routes> routes_;
};

}  // namespace fanline::redis
