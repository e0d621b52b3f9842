// Two dispatchers and two pushers: the real logic, each call of a port a message in the network.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "dispatcher/dispatcher.h"
#include "pusher/pusher.h"
#include "tests/sim/redis_calls.h"

namespace fanline::sim {

struct Spine : RedisCalls {
  using RedisCalls::RedisCalls;

  struct DispatcherProcess
      : ServesAll<DispatcherProcess, ApplyEvents, AppendHints, AppendDeadLetter>,
        Process<dispatcher::Dispatcher, dispatcher::Input> {
    Spine* world = nullptr;
    dispatcher::Metrics metrics;
    void Serve(ApplyEvents request, ReplyTo<EventsApplied> to) {
      world->SendApply(*this, std::move(request), to);
    }
    void Serve(AppendHints request, ReplyTo<HintsAppended> to) {
      world->SendHints(*this, std::move(request), to);
    }
    void Serve(const AppendDeadLetter& request, ReplyTo<DeadLetterAppended> to) {
      world->Answer(*this, to, "dead letter", {request.id, {}});
    }
  };

  struct PusherMetrics : pusher::Metrics {
    FleetCounts* counts = nullptr;
    void Written(const BatchWritten& batch) override {
      counts->trimmed += batch.trimmed;
      Full(batch.full);
    }
    void HintQuarantined(const std::string&) override { ++counts->quarantined; }
    void Holding(const Held& told) override { held = told; }
    Held held;
    void Full(uint64_t timelines) override {
      counts->letters[static_cast<size_t>(Letter::kRedisFull)] += timelines;
    }
  };

  struct PusherProcess
      : ServesAll<PusherProcess, ReadPostPage, ReadSync, ClaimRange, ResetRange, SavePosition,
                  TimelineBatch, ReadTimeline, ApplySync, DropTimeline, MarkPart, AcquireRange,
                  RaiseEpoch, SaveStart, SettleRange, AppendDeadLetter>,
        Process<pusher::Pusher, pusher::Input> {
    Spine* world = nullptr;
    PusherMetrics metrics;
    uint64_t connection = 0;            // to Redis; another one after each loss
    std::map<Range, uint64_t> claimed;  // range -> connection it was claimed in
    std::map<std::pair<UserId, PostId>, PostState> believed;  // truth_after_hint off
    template <class R>
    void Serve(R request, ReplyTo<typename R::Reply> to) {
      if constexpr (std::is_same_v<typename R::Reply, RangeOwned>) {
        world->SendOwner(*this, std::move(request), to);
      } else {
        world->SendTimeline(*this, std::move(request), to);
      }
    }
    void Serve(ReadPostPage request, ReplyTo<PostPage> to) {
      world->SendTruth(*this, std::move(request), to);
    }
    void Serve(ReadSync request, ReplyTo<SyncTruth> to) {
      world->SendTruth(*this, std::move(request), to);
    }
    void Serve(const AppendDeadLetter& request, ReplyTo<DeadLetterAppended> to) {
      world->Answer(*this, to, "dead letter", {request.id, {}});
    }
  };

  std::vector<std::unique_ptr<DispatcherProcess>> dispatchers;
  std::vector<std::unique_ptr<PusherProcess>> pushers;

  void SendApply(DispatcherProcess& process, ApplyEvents request, ReplyTo<EventsApplied> to) {
    const EventsApplied failed{request.id, AwayStatus(), {}};
    Ask(process, to, "rows", failed,
        [this, request, failed] { return Away(request.shard) ? failed : mysql.Do(request); });
  }

  void SendHints(DispatcherProcess& process, AppendHints request, ReplyTo<HintsAppended> to) {
    const HintsAppended done{request.id, {}};
    const auto append = [this, request, done] {
      for (const auto& [range, hint] : request.hints) AppendHint(range, hint);
      return done;
    };
    if (options.guards.hints_before_commit) return Ask(process, to, "hints", done, append);
    // The sender takes the hints for acknowledged at once; its crash may then lose them.
    to(done);
    if (faults && Chance(10)) return;
    Ask(process, {}, "hints", done, append);
  }

  template <typename R>
  void SendTruth(PusherProcess& process, R request, ReplyTo<typename R::Reply> to) {
    typename R::Reply failed;
    failed.id = request.id;
    failed.status = AwayStatus();
    Ask(process, to, "truth", failed, [this, &process, request, failed] {
      if (TruthAway(request.author)) return failed;
      typename R::Reply reply = mysql.Do(request);
      if (Never()) {
        reply = failed;
        reply.status = Status::Never("a row that cannot be read");
      } else if constexpr (std::is_same_v<R, ReadPostPage>) {
        if (!options.guards.truth_after_hint) Believe(process, request, reply);
      }
      return reply;
    });
  }

  // An author's posts and followers lie on one shard.
  bool TruthAway(UserId author) {
    if (!Away(shards.ShardOf(author))) return false;
    Count(Letter::kTruthAway);
    return true;
  }

  // An answer that will be the same each time: the hint is quarantined.
  bool Never() {
    if (!faults || !Chance(character.never)) return false;
    Count(Letter::kNever);
    return true;
  }

  // The mutation: what was read for an earlier hint is believed for a later one.
  static void Believe(PusherProcess& process, const ReadPostPage& asked, PostPage& reply) {
    for (size_t i = 0; i < asked.posts.size(); ++i) {
      reply.posts[i] =
          process.believed.emplace(std::pair(asked.author, asked.posts[i]), reply.posts[i])
              .first->second;
    }
  }

  template <typename R>
  void SendOwner(PusherProcess& process, R request, ReplyTo<RangeOwned> to) {
    Ask(process, to, "owner", RangeOwned{.id = request.id, .status = {}},
        [this, request] { return mysql.Do(request); });
  }

  // Redis. The adapter keeps the session rule of live_timelines.h; here it is made up.
  template <typename R>
  void SendTimeline(PusherProcess& process, R request, ReplyTo<typename R::Reply> to) {
    using Answer = typename R::Reply;
    const uint64_t owner = process.incarnation;
    Answer lost;
    lost.id = request.id;
    lost.status = Status::Later("redis", "the connection was lost");
    if constexpr (requires { lost.needs_claim; }) {
      lost.needs_claim = options.guards.claim_after_reconnect;
      if (options.guards.claim_after_reconnect &&
          process.claimed[request.range] != process.connection) {
        return to(lost);
      }
    }
    if constexpr (std::is_same_v<R, ClaimRange>)
      process.claimed[request.range] = process.connection;
    if constexpr (std::is_same_v<R, TimelineBatch>) {
      if (!options.guards.writes_before_commit) {
        Answer early;
        early.id = request.id;
        early.results.assign(request.writes.size(), 0);
        to(early);
        if (faults && Chance(10)) return;
        network.Send({"redis",
                      [this, request] {
                        redis.Do(request);
                        return std::function<void()>([] {});
                      },
                      {},
                      owner,
                      true});
        return;
      }
    }
    CallRedis(process, std::move(request), to, lost);
  }

  void StartDispatcher(DispatcherProcess& process) {
    process.world = this;
    Renew(process);
    dispatcher::Limits limits;
    limits.events_per_transaction = 3;
    limits.sample_rate = 0.5;
    process.logic = std::make_unique<dispatcher::Dispatcher>(
        dispatcher::Dispatcher::Ports{{process, process.inbox},
                                      {process, process.inbox},
                                      {process, process.inbox},
                                      process.metrics},
        dispatcher::Dispatcher::Setup{RangeLayout(kRanges), shards, random()}, limits);
  }

  void StartPusher(PusherProcess& process) {
    process.world = this;
    Renew(process);
    process.claimed.clear();
    process.connection = incarnations << 20;
    process.believed.clear();
    process.metrics.counts = &counts;
    process.metrics.held = {};
    pusher::Limits limits;
    limits.window = window();
    limits.timelines_per_batch = 3;
    limits.batches_in_flight = 3;
    limits.posts_per_unit = 3;
    limits.syncs_per_unit = 3;
    limits.followers_per_page = 2;
    limits.buffered_hints_per_range = 16;
    limits.parked_hints_per_range = 16;
    limits.span_per_range = 32;
    limits.save_position_every = std::chrono::milliseconds(20);
    limits.check_position_every = std::chrono::milliseconds(60);
    limits.settle_after = std::chrono::milliseconds(100);
    limits.backoff = {std::chrono::milliseconds(2), std::chrono::milliseconds(20)};
    limits.probe = limits.backoff;
    process.logic = std::make_unique<pusher::Pusher>(
        pusher::Pusher::Ports{{process, process.inbox},
                              {process, process.inbox},
                              {process, process.inbox},
                              {process, process.inbox},
                              process.metrics},
        pusher::Pusher::Setup{RangeLayout(kRanges), 1, random(), options.guards.logic}, limits);
  }
};

}  // namespace fanline::sim
