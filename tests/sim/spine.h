// Dispatchers and pushers: the real logic, and what its calls come to.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "dispatcher/dispatcher.h"
#include "pusher/pusher.h"
#include "tests/sim/redis_calls.h"

namespace fanline::sim {

struct DispatcherProcess : ServesAll<DispatcherProcess, ApplyEvents, AppendHints, AppendDeadLetter>,
                           Caller,
                           Consumes<dispatcher::Dispatcher, dispatcher::Input> {
  using Caller::Caller;

  dispatcher::Metrics metrics;

  void Serve(const ApplyEvents& request, ReplyTo<EventsApplied> to) {
    const EventsApplied failed{request.id, AwayStatus(), {}};
    Ask(to, "rows", failed, [this, request, failed] {
      return world.Away(request.shard) ? failed : world.mysql.Do(request);
    });
  }

  void Serve(const AppendHints& request, ReplyTo<HintsAppended> to) {
    const HintsAppended done{request.id, {}};
    const auto append = [this, request, done] {
      world.AppendAll(request);
      return done;
    };
    if (world.options.guards.hints_before_commit) return Ask(to, "hints", done, append);
    // The sender takes the hints for acknowledged at once; its crash may then lose them.
    to(done);
    if (!world.Strikes(10)) Ask({}, "hints", done, append);
  }

  void Serve(const AppendDeadLetter& request, ReplyTo<DeadLetterAppended> to) {
    Answer(to, "dead letter", {request.id, {}});
  }

  void Start() {
    dispatcher::Limits limits;
    limits.events_per_transaction = 3;
    limits.sample_rate = 0.5;
    logic = std::make_unique<dispatcher::Dispatcher>(
        dispatcher::Dispatcher::Ports{{*this, inbox}, {*this, inbox}, {*this, inbox}, metrics},
        dispatcher::Dispatcher::Setup{RangeLayout(kRanges), world.shards, world.random()}, limits);
  }
};

struct PusherMetrics : pusher::Metrics {
  explicit PusherMetrics(FleetCounts& given) : counts(given) {}
  void Written(const BatchWritten& batch) override {
    counts.trimmed += batch.trimmed;
    Full(batch.full);
  }
  void HintQuarantined(const std::string&) override { ++counts.quarantined; }
  void Holding(const Held& told) override { held = told; }
  void Full(uint64_t timelines) override {
    counts.letters[static_cast<size_t>(Letter::kRedisFull)] += timelines;
  }
  FleetCounts& counts;
  Held held;
};

struct PusherProcess
    : ServesAll<PusherProcess, ReadPostPage, ReadSync, ClaimRange, ResetRange, SavePosition,
                TimelineBatch, ReadTimeline, ApplySync, DropTimeline, MarkPart, AcquireRange,
                RaiseEpoch, SaveStart, SettleRange, AppendDeadLetter>,
      RedisCaller,
      Consumes<pusher::Pusher, pusher::Input> {
  using RedisCaller::RedisCaller;

  PusherMetrics metrics{world.counts};
  std::map<Range, uint64_t> claimed;                        // range -> connection it was claimed in
  std::map<std::pair<UserId, PostId>, PostState> believed;  // truth_after_hint off

  template <typename R>
  void Serve(R request, ReplyTo<typename R::Reply> to) {
    if constexpr (std::is_same_v<typename R::Reply, RangeOwned>) {
      Ask(to, "owner", RangeOwned{.id = request.id, .status = {}},
          [this, request] { return world.mysql.Do(request); });
    } else if constexpr (std::is_same_v<R, ReadPostPage> || std::is_same_v<R, ReadSync>) {
      AskTruth(std::move(request), to);
    } else {
      AskTimelines(std::move(request), to);
    }
  }
  void Serve(const AppendDeadLetter& request, ReplyTo<DeadLetterAppended> to) {
    Answer(to, "dead letter", {request.id, {}});
  }

  template <typename R>
  void AskTruth(R request, ReplyTo<typename R::Reply> to) {
    typename R::Reply failed;
    failed.id = request.id;
    failed.status = AwayStatus();
    Ask(to, "truth", failed, [this, request, failed] {
      if (TruthAway(request.author)) return failed;
      typename R::Reply reply = world.mysql.Do(request);
      if (Never()) {
        reply = failed;
        reply.status = Status::Never("a row that cannot be read");
      } else if constexpr (std::is_same_v<R, ReadPostPage>) {
        if (!world.options.guards.truth_after_hint) Believe(request, reply);
      }
      return reply;
    });
  }

  // An author's posts and followers lie on one shard.
  bool TruthAway(UserId author) {
    if (!world.Away(world.shards.ShardOf(author))) return false;
    world.Count(Letter::kTruthAway);
    return true;
  }

  // An answer that will be the same each time: the hint is quarantined.
  bool Never() {
    if (!world.Strikes(world.character.never)) return false;
    world.Count(Letter::kNever);
    return true;
  }

  // The mutation: what was read for an earlier hint is believed for a later one.
  void Believe(const ReadPostPage& asked, PostPage& reply) {
    for (size_t i = 0; i < asked.posts.size(); ++i) {
      const std::pair post(asked.author, asked.posts[i]);
      reply.posts[i] = believed.emplace(post, reply.posts[i]).first->second;
    }
  }

  // Redis. The adapter keeps the session rule of live_timelines.h; here it is made up.
  template <typename R>
  void AskTimelines(R request, ReplyTo<typename R::Reply> to) {
    const Guards& guards = world.options.guards;
    typename R::Reply lost;
    lost.id = request.id;
    lost.status = Status::Later("redis", "the connection was lost");
    if constexpr (requires { lost.needs_claim; }) {
      lost.needs_claim = guards.claim_after_reconnect;
      if (guards.claim_after_reconnect && claimed[request.range] != connection) return to(lost);
    }
    if constexpr (std::is_same_v<R, ClaimRange>) claimed[request.range] = connection;
    if constexpr (std::is_same_v<R, TimelineBatch>) {
      if (!guards.writes_before_commit) return WriteUnacknowledged(request, to);
    }
    CallRedis(std::move(request), to, lost);
  }

  // The mutation: a batch counts as written when it is sent.
  void WriteUnacknowledged(const TimelineBatch& batch, ReplyTo<BatchWritten> to) {
    BatchWritten early;
    early.id = batch.id;
    early.results.assign(batch.writes.size(), 0);
    to(early);
    if (world.Strikes(10)) return;
    const auto write = [this, batch] {
      world.redis.Do(batch);
      return std::function<void()>([] {});
    };
    world.network.Send({"redis", write, {}, incarnation, true});
  }

  void Start() {
    claimed.clear();
    connection = incarnation << 20;
    believed.clear();
    metrics.held = {};
    pusher::Limits limits;
    limits.window = world.window();
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
    logic = std::make_unique<pusher::Pusher>(
        pusher::Pusher::Ports{
            {*this, inbox}, {*this, inbox}, {*this, inbox}, {*this, inbox}, metrics},
        pusher::Pusher::Setup{RangeLayout(kRanges), 1, world.random(), world.options.guards.logic},
        limits);
  }
};

}  // namespace fanline::sim
