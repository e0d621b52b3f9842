// Live timelines on a real Redis, one node or a Cluster. fanline/ports/live_timelines.h tells what
// each request means, schemas/redis/README.md what is stored.
// All keys of a range lie on one node. A request goes to the node that serves its range by the
// latest map. A thread asks all masters for it, every map_every and whenever a node doubts it. Each
// such node has its own thread and connection (node.h), so a node that is away does not affect the
// ranges of others. A range that moves to another node (a failover, a moved slot) is not claimed
// there: its next request is refused with needs_claim. A node outside a Cluster serves all ranges.
// Replies come from the adapter's own threads, or from within Submit beyond max_requests or when
// nobody serves the range. While a node is away, every request of its ranges is answered kLater
// ("redis") at once, and the adapter reconnects with back-off.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "backends/redis/client/options.h"
#include "backends/redis/cluster/masters.h"
#include "backends/redis/node.h"
#include "fanline/base/log_sink.h"

namespace fanline::redis {

// Ranges that are not served, all for one reason; mostly their node is away.
struct RangesAway {
  std::string reason;
  std::vector<Range> ranges;  // in order
  friend bool operator==(const RangesAway&, const RangesAway&) = default;
};

class RedisLiveTimelines final
    : public ServesAll<RedisLiveTimelines, ClaimRange, ReadNews, ResetRange, SavePosition,
                       TimelineBatch, ApplySync, SetMutes, DropTimeline, MarkPart> {
 public:
  // Called from the adapter's threads; each function is called by one at a time.
  struct Events {
    // At each change, for readiness: all ranges without a node that has a session. Empty: every
    // range is served.
    std::function<void(const std::vector<RangesAway>& away)> on_away;
    // With each new map: how many ranges are left between two nodes, their slot having migrated for
    // longer than slot_left_after.
    std::function<void(size_t ranges)> on_left_migrating;
  };

  // Starts to connect at once.
  RedisLiveTimelines(const Options& options, LogSink log, Events events);
  ~RedisLiveTimelines() override;  // open requests stay unanswered

  template <class R>
  void Serve(R request, ReplyTo<typename R::Reply> to) {
    Take(Submitted<R>{std::move(request), to});
  }

 private:
  struct Home {
    Node* node = nullptr;  // none: nobody serves the range
    std::string address;
    Node::Residence residence = 0;  // a new one each time the range moves to another node
  };
  using Nodes = std::map<std::string, std::unique_ptr<Node>>;  // by address

  void Take(Submission submission);

  // ---- the map's thread
  void Run();
  bool AskForMap();  // whether all ranges are served
  bool TakeMap(const SlotMap& map);
  Nodes Settle(const SlotMap& map);
  Node* NodeAt(const Endpoint& address);
  void Watch(const SlotMap& map);
  void HearNobody(const std::string& why);

  // ---- any thread
  void Doubt();  // never blocks; the map is asked for soon
  void Hear(const std::string& node, bool connected, const std::string& why_not);
  bool Tell();  // under report_mutex_; whether all ranges are served
  std::vector<RangesAway> AllAway();
  void Log(LogLevel level, const std::string& message) const {
    if (log_) log_(level, message);
  }

  const Options options_;
  const RangeLayout layout_;
  const LogSink log_;
  const Events events_;

  // Lock order: report_mutex_, mutex_, a node's own.
  std::mutex report_mutex_;  // guards the next two; held while events are called
  // Why each node has no session, by address; an empty text: not known yet.
  std::map<std::string, std::string> why_not_;
  std::optional<std::vector<RangesAway>> reported_;

  std::mutex mutex_;  // guards the next three
  std::vector<Home> homes_;
  Nodes nodes_;
  std::string why_nobody_ = "redis: not connected yet";

  std::condition_variable wake_;
  std::mutex wake_mutex_;  // guards the next two
  bool stopping_ = false;
  bool doubted_ = false;

  // ---- the map's thread
  Node::Residence residences_ = 0;
  uint32_t numbers_ = 0;  // of nodes
  MigrationWatch migrations_;
  Masters masters_;
  std::mt19937_64 random_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace fanline::redis
