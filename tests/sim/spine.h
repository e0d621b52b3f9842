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

  struct DispatcherProcess : PostStore,
                             HintLog,
                             DeadLetters,
                             Process<dispatcher::Dispatcher, dispatcher::Input> {
    Spine* world = nullptr;
    dispatcher::Metrics metrics;
    void Submit(ApplyEvents request) override { world->SendApply(*this, std::move(request)); }
    void Submit(AppendHints request) override { world->SendHints(*this, std::move(request)); }
    void Submit(AppendDeadLetter request) override {
      world->Reply(*this, "dead letter", [id = request.id] { return DeadLetterAppended{id, {}}; });
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

  struct PusherProcess : Truth,
                         LiveTimelines,
                         RangeOwners,
                         DeadLetters,
                         Process<pusher::Pusher, pusher::Input> {
    Spine* world = nullptr;
    PusherMetrics metrics;
    uint64_t connection = 0;            // to Redis; another one after each loss
    std::map<Range, uint64_t> claimed;  // range -> connection it was claimed in
    std::map<std::pair<UserId, PostId>, PostState> believed;  // truth_after_hint off
    void Submit(TruthRequest request) override { world->SendTruth(*this, std::move(request)); }
    void Submit(TimelineRequest request) override {
      std::visit([&](auto& value) { world->SendTimeline(*this, value); }, request);
    }
    void Submit(OwnerRequest request) override {
      std::visit([&](auto value) { world->SendOwner(*this, value); }, request);
    }
    void Submit(AppendDeadLetter request) override {
      world->Reply(*this, "dead letter", [id = request.id] { return DeadLetterAppended{id, {}}; });
    }
  };

  std::vector<std::unique_ptr<DispatcherProcess>> dispatchers;
  std::vector<std::unique_ptr<PusherProcess>> pushers;

  void SendApply(DispatcherProcess& process, ApplyEvents request) {
    auto failed = EventsApplied{request.id, Status::Later("mysql_0", "timed out"), {}};
    const uint64_t owner = process.incarnation;
    network.Send({"rows",
                  [this, &process, request, owner, failed] {
                    return DeliverTo(process, owner,
                                     Away(request.shard) ? failed : mysql.Do(request));
                  },
                  DeliverTo(process, owner, failed), owner, false});
  }

  void SendHints(DispatcherProcess& process, AppendHints request) {
    const uint64_t owner = process.incarnation;
    const auto done = HintsAppended{request.id, {}};
    if (!options.guards.hints_before_commit) {
      // Acknowledged at once; a crash of the sender may then lose what it held back.
      process.inbox.emplace_back(done);
      if (faults && Chance(10)) return;
    }
    const bool acknowledge = options.guards.hints_before_commit;
    network.Send({"hints",
                  [this, &process, request, owner, done, acknowledge] {
                    for (const auto& [range, hint] : request.hints) AppendHint(range, hint);
                    return acknowledge ? DeliverTo(process, owner, done) : [] {};
                  },
                  acknowledge ? DeliverTo(process, owner,
                                          HintsAppended{request.id, Status::Later("kafka", "")})
                              : std::function<void()>(),
                  owner, false});
  }

  void SendTruth(PusherProcess& process, TruthRequest request) {
    const uint64_t owner = process.incarnation;
    if (auto* page = std::get_if<ReadPostPage>(&request)) {
      PostPage failed;
      failed.id = page->id;
      failed.status = Status::Later("mysql_0", "timed out");
      network.Send({"page",
                    [this, &process, owner, asked = *page, failed] {
                      if (TruthAway(asked.author)) {
                        return DeliverTo(process, owner, TruthReply(failed));
                      }
                      PostPage reply = mysql.Do(asked);
                      if (Never()) {
                        reply = {};
                        reply.id = asked.id;
                        reply.status = Status::Never("a row that cannot be read");
                        return DeliverTo(process, owner, TruthReply(reply));
                      }
                      if (!options.guards.truth_after_hint) Believe(process, asked, reply);
                      return DeliverTo(process, owner, TruthReply(reply));
                    },
                    DeliverTo(process, owner, TruthReply(failed)), owner, false});
    } else {
      const auto& sync = std::get<ReadSync>(request);
      SyncTruth failed;
      failed.id = sync.id;
      failed.status = Status::Later("mysql_0", "timed out");
      network.Send({"sync truth",
                    [this, &process, owner, sync, failed] {
                      if (TruthAway(sync.author)) {
                        return DeliverTo(process, owner, TruthReply(failed));
                      }
                      SyncTruth reply = mysql.Do(sync);
                      if (Never()) reply.status = Status::Never("a row that cannot be read");
                      return DeliverTo(process, owner, TruthReply(reply));
                    },
                    DeliverTo(process, owner, TruthReply(failed)), owner, false});
    }
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
  void SendOwner(PusherProcess& process, R request) {
    const uint64_t owner = process.incarnation;
    RangeOwned failed;
    failed.id = request.id;
    failed.status = Status::Later("mysql_0", "timed out");
    network.Send(
        {"owner",
         [this, &process, owner, request] { return DeliverTo(process, owner, mysql.Do(request)); },
         DeliverTo(process, owner, failed), owner, false});
  }

  // Redis: the session rule of live_timelines.h is the adapter's; here it is made up.
  template <typename R>
  void SendTimeline(PusherProcess& process, R request) {
    using Answer = decltype(redis.Do(request));
    const uint64_t owner = process.incarnation;
    Answer lost;
    lost.id = request.id;
    lost.status = Status::Later("redis", "the connection was lost");
    if constexpr (requires { lost.needs_claim; }) {
      lost.needs_claim = options.guards.claim_after_reconnect;
      if (options.guards.claim_after_reconnect &&
          process.claimed[request.range] != process.connection) {
        process.inbox.emplace_back(TimelineReply(lost));
        return;
      }
    }
    if constexpr (std::is_same_v<R, ClaimRange>)
      process.claimed[request.range] = process.connection;
    if constexpr (std::is_same_v<R, TimelineBatch>) {
      if (!options.guards.writes_before_commit) {
        Answer early;
        early.id = request.id;
        early.results.assign(request.writes.size(), 0);
        process.inbox.emplace_back(TimelineReply(early));
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
    CallRedis(process, std::move(request), lost);
  }

  void StartDispatcher(DispatcherProcess& process) {
    process.world = this;
    Renew(process);
    dispatcher::Limits limits;
    limits.events_per_transaction = 3;
    limits.sample_rate = 0.5;
    process.logic = std::make_unique<dispatcher::Dispatcher>(
        dispatcher::Dispatcher::Ports{process, process, process, process.metrics},
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
        pusher::Pusher::Ports{process, process, process, process, process.metrics},
        pusher::Pusher::Setup{RangeLayout(kRanges), 1, random(), options.guards.logic}, limits);
  }
};

}  // namespace fanline::sim
