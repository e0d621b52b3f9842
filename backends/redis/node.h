// One Redis node that serves ranges, as the pusher sees it: a thread and one pipelined connection,
// which reconnects with back-off when lost. Further calls are encoded and sent while replies are
// outstanding, so that the node always has work.
// A session is one connection to one unchanged node. A residence of a range begins each time the
// range comes to this node. A range must be claimed in each session and residence; otherwise its
// requests are refused with needs_claim. When the session ends, all open requests are answered
// kLater. A request for a range that has moved to another node (MOVED) needs a claim as well; other
// ranges go on.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "backends/redis/batch_job.h"
#include "backends/redis/client/command_channel.h"
#include "backends/redis/client/errors.h"
#include "backends/redis/client/identity.h"
#include "backends/redis/client/pipelined_connection.h"
#include "backends/redis/keys.h"
#include "backends/redis/reset_walk.h"
#include "fanline/base/log_sink.h"
#include "fanline/ports/live_timelines.h"
#include "fanline/ports/port.h"

namespace fanline::redis {

// The kinds of requests that a node serves.
using Submission =
    std::variant<Submitted<ClaimRange>, Submitted<ReadNews>, Submitted<ResetRange>,
                 Submitted<SavePosition>, Submitted<TimelineBatch>, Submitted<ApplySync>,
                 Submitted<SetMutes>, Submitted<DropTimeline>, Submitted<MarkPart>>;

// Replies of requests that need a claimed range have needs_claim. ClaimRange and MarkPart need
// none.
template <class R>
inline constexpr bool kNeedsClaimedRange = requires(typename R::Reply reply) {
  reply.needs_claim;
};

template <class R>
typename R::Reply Failed(uint64_t id, Status status, bool needs_claim) {
  typename R::Reply reply;
  reply.id = id;
  reply.status = std::move(status);
  if constexpr (kNeedsClaimedRange<R>) reply.needs_claim = needs_claim;
  return reply;
}

class Node : private CommandChannel {
 public:
  // From the node's thread.
  struct Events {
    std::function<void(bool connected, const std::string& reason)> on_state;
    std::function<void()> on_doubt;  // another node may serve some of the ranges
  };

  // `options.address` is the node's. `number` is reported as RangeClaimed::node.
  Node(const Options& options, uint32_t number, Events events, LogSink log);
  ~Node() override;  // open requests stay unanswered

  // The number of a range's residence at a node. Never 0.
  using Residence = uint64_t;
  // Any thread; never blocks. Replies come from the node's thread, in groups. False: max_requests
  // are waiting, and the submission was not taken.
  [[nodiscard]] bool Submit(Submission& submission, Residence residence);
  // Ends: answers all open requests kLater, with needs_claim. No Submit may follow.
  void Retire();

 private:
  using Ticket = uint64_t;

  // ---- the thread
  void Run();
  void Wait();
  Time NextMoment() const;
  void DeliverReplies();

  // ---- requests
  struct Waiting {
    Submission submission;
    Residence residence = 0;
  };
  void TakeRequests();
  template <class R>
  void Accept(Submitted<R> submitted, Residence residence);
  template <class R>
  void Start(R request, Answer<typename R::Reply> answer, Residence residence);
  void StartMarked(const ClaimRange& request, Answer<RangeClaimed> answer, Residence residence);
  void StartCalls();
  template <class Reply>
  void Deliver(ReplyTo<Reply> to, Reply reply);

  // ---- the session
  void Connect();
  void LoadScripts();
  void AskIdentity();
  void TakeIdentity(const Identity& identity);
  void Beat();
  void Lose(const std::string& why);
  void DropSession(const std::string& reason);
  void SetState(bool connected, const std::string& reason);

  // ---- CommandChannel
  void Call(CommandBuffer command, Done done) override;
  void Send(CommandBuffer command, Done done, bool may_load_scripts);
  void OnError(std::string_view error, const CommandBuffer& command, const Done& done,
               bool may_load_scripts);
  bool Act(const ErrorMeaning& meaning, std::string_view error);
  void Stop();

  const Options options_;
  const uint32_t number_;
  const Keys keys_;
  const Events events_;
  const LogSink log_;
  const int wakeup_;  // eventfd

  // ---- shared with the callers, under mutex_
  std::mutex mutex_;
  std::vector<Waiting> inbox_;
  std::atomic<size_t> unanswered_{0};
  std::atomic<bool> stopping_{false};

  // ---- the thread's own
  Time now_{};
  bool connected_ = false;
  std::string reason_ = "not connected yet";    // why requests are refused while not ready
  std::string reported_ = "not connected yet";  // reason last given to on_state; empty: connected
  std::unique_ptr<PipelinedConnection> connection_;
  Identity identity_;
  bool ready_ = false;     // greeted: requests are accepted
  std::string leave_;      // if not empty, why the session ends after this round of replies
  uint32_t failures_ = 0;  // in a row, of connecting
  Time next_attempt_{};
  Time next_beat_{};
  std::mt19937_64 random_;
  std::map<Range, Residence> claimed_;  // in this session
  Ticket next_ticket_ = 1;
  // Requests that are not answered: how to answer that the session ended.
  std::unordered_map<Ticket, std::function<void(const std::string& reason)>> open_;
  std::deque<std::shared_ptr<BatchJob>> batches_;  // without a call under way
  uint32_t calls_in_flight_ = 0;                   // of batches
  std::unique_ptr<ResetWalk> walk_;
  std::vector<std::function<void()>> replies_;  // what delivers each
  std::thread thread_;                          // last: it uses all of the above
};

}  // namespace fanline::redis
