// Dispatchers and pushers: their real logic, and the effects of their calls.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "dispatcher/dispatcher.h"
#include "pusher/pusher.h"
#include "tests/sim/redis_calls.h"

namespace fanline::sim {

struct DispatcherProcess : ServesAll<DispatcherProcess, ApplyEvents, ReadShown, AnnounceAuthor,
                                     SwitchAuthor, AppendHints, AppendDeadLetter>,
                           Caller,
                           Consumes<dispatcher::Dispatcher, dispatcher::Input> {
  using Caller::Caller;

  dispatcher::Metrics metrics;

  void Serve(const ApplyEvents& request, ReplyTo<EventsApplied> to) {
    if (world.character.leave_out) {
      const bool first = !world.options.guards.followers_after_commit;
      return first ? ReadThenCommit(request, to) : CommitThenRead(request, to);
    }
    const EventsApplied failed{request.id, AwayStatus(), {}};
    Ask(to, "rows", failed,
        [this, request, failed] { return Away(request.shard) ? failed : Commit(request); });
  }

  EventsApplied Commit(const ApplyEvents& request) {
    EventsApplied applied = world.mysql.Commit(request);
    if (world.character.odd.lose_rows > 0) {
      std::vector<FeedEvent>& missing = world.replicas[request.shard].missing;
      missing.insert(missing.end(), request.events.begin(), request.events.end());
    }
    for (size_t i = 0; i < applied.applied.size(); ++i) {
      if (applied.applied[i].pushed) continue;
      world.Count(Letter::kMergedAtRead);
      if (applied.applied[i].mode.announced) world.Count(Letter::kToldBefore);
      if (world.options.guards.announced_is_told) continue;
      world.mysql.Do(AnnounceAuthor{0, request.shard, request.events[i].author});
    }
    return applied;
  }

  void Serve(const ReadShown& request, ReplyTo<ShownRead> to) {
    const ShownRead failed{request.id, request.shard, AwayStatus()};
    Ask(to, "originals", failed,
        [this, request, failed] { return Away(request.shard) ? failed : world.mysql.Do(request); });
  }

  // A lost announcement is repeated with the author's next post.
  void Serve(const AnnounceAuthor& request, ReplyTo<AuthorAnnounced> to) {
    const AuthorAnnounced failed{request.id, AwayStatus()};
    Ask(to, "announcement", failed,
        [this, request, failed] { return Away(request.shard) ? failed : world.mysql.Do(request); });
  }

  // A lost switch is decided again with a later event. A late one finds another version and does
  // nothing.
  void Serve(const SwitchAuthor& request, ReplyTo<AuthorSwitched> to) {
    const AuthorSwitched failed{request.id, AwayStatus()};
    Ask(to, "switch", failed,
        [this, request, failed] { return Away(request.shard) ? failed : Switch(request); });
  }
  AuthorSwitched Switch(const SwitchAuthor& request) {
    const AuthorMode before = world.mysql.ModeOf(request.author);
    const AuthorSwitched reply = world.mysql.Do(request);
    if (!reply.switched || before.pull == request.pull) return reply;
    world.Trace(ToString(request.author) + (request.pull ? " is pulled" : " is pushed again"));
    world.Count(request.pull ? Letter::kPulledByItself : Letter::kPushedByItself);
    if (before.pull && before.since < World::kPullHold) {
      world.trouble = "author " + ToString(request.author) + " was pushed again too soon";
    }
    return reply;
  }

  // ---- empty ranges ---------------------------------------------------------------------------
  // Two steps, between which anything may happen. If the read fails, the rows stay committed.
  void CommitThenRead(const ApplyEvents& request, ReplyTo<EventsApplied> to) {
    const bool as_they_are = world.options.guards.followers_as_they_are;
    const auto before = as_they_are ? Edges{} : world.mysql.relations.reverse();
    const auto read = [this, request, to, before, as_they_are](const EventsApplied& committed) {
      if (!committed.status.done()) return to(committed);
      const auto answer = [this, request, to](const EventsApplied& applied) {
        Count(request, applied);
        to(applied);
      };
      const auto make = [this, request, committed, before, as_they_are] {
        if (Away(request.shard)) return Unread(committed);
        EventsApplied applied = committed;
        world.mysql.ReadFollowers(request, as_they_are ? world.mysql.relations.reverse() : before,
                                  applied);
        return applied;
      };
      AskAndGoOn("followers", Unread(committed), answer, make, AnyLag());
    };
    const EventsApplied failed{request.id, AwayStatus(), {}};
    AskAndGoOn(
        "rows", failed, read,
        [this, request, failed] { return Away(request.shard) ? failed : Drifted(Commit(request)); },
        AnyLag());
  }

  // The mutation: a user who follows while the rows are being committed is missed.
  void ReadThenCommit(const ApplyEvents& request, ReplyTo<EventsApplied> to) {
    const EventsApplied failed{request.id, AwayStatus(), {}};
    const auto commit = [this, request, to, failed](const EventsApplied& read) {
      if (!read.status.done()) return to(failed);
      const auto make = [this, request, failed, read] {
        if (Away(request.shard)) return failed;
        EventsApplied applied = Commit(request);
        for (size_t i = 0; i < applied.applied.size(); ++i) {
          applied.applied[i].buckets = read.applied[i].buckets;
        }
        return applied;
      };
      Ask(to, "rows", failed, make, AnyLag());
    };
    AskAndGoOn("followers", failed, commit, [this, request] {
      EventsApplied read{request.id, {}, {}};
      read.applied.resize(request.events.size());
      world.mysql.ReadFollowers(request, world.mysql.relations.reverse(), read);
      return read;
    });
  }

  using Edges = fakes::FakeRelations::Edges;

  // Like Ask, but this process continues with the answer, or with `failed` if the call times out.
  // It sends nothing in that case.
  template <typename Next, typename F>
  void AskAndGoOn(const char* name, const EventsApplied& failed, Next next, F make,
                  int patience = 0) {
    const uint64_t owner = incarnation;
    const auto go_on = [this, owner, next](const EventsApplied& answer) {
      if (incarnation == owner) next(answer);
    };
    const auto carry_out = [go_on, make]() mutable {
      return std::function<void()>([go_on, answer = make()] { go_on(answer); });
    };
    world.network.Send(
        {name, carry_out, [go_on, failed] { go_on(failed); }, owner, false, patience});
  }

  // The time between the two steps, in which faults may strike.
  int AnyLag() {
    const uint64_t lag = world.character.read_lag;
    return lag == 0 ? 0 : 1 + world.PickInt(lag);
  }

  static EventsApplied Unread(EventsApplied committed) {
    committed.followers = AwayStatus();
    return committed;
  }

  EventsApplied Drifted(EventsApplied committed) {
    for (EventsApplied::Applied& each : committed.applied) {
      if (world.Chance(world.character.counter_drift)) each.followers = world.Chance(70) ? 0 : 100;
    }
    return committed;
  }

  void Count(const ApplyEvents& request, const EventsApplied& applied) {
    if (!applied.followers.done()) return world.Count(Letter::kFollowersUnread);
    for (const EventsApplied::Applied& each : applied.applied) {
      if (each.buckets && each.buckets->empty()) world.Count(Letter::kNoHint);
      if (each.buckets && each.buckets->size() < kRanges) world.Count(Letter::kRangeLeftOut);
      if (!each.buckets && each.followers <= request.most_followers)
        world.Count(Letter::kFollowersCut);
    }
  }

  // ---- hints ----------------------------------------------------------------------------------
  void Serve(const AppendHints& request, ReplyTo<HintsAppended> to) {
    const auto failed = HintsAppended::Of(request.id, AwayStatus(), request.hints.size());
    const auto append = [this, request] { return Append(request); };
    if (world.options.guards.hints_before_commit) return Ask(to, "hints", failed, append);
    // The sender considers the hints acknowledged at once, so its crash may lose them.
    to({request.id, {}});
    if (!world.Strikes(10)) Ask({}, "hints", failed, append);
  }

  // Some hints are not acknowledged, though they may be in the log.
  HintsAppended Append(const AppendHints& request) {
    HintsAppended reply{request.id, {}};
    for (size_t hint = 0; hint < request.hints.size(); ++hint) {
      const bool refused = world.Strikes(5);
      if (!refused || world.Chance(50)) {
        world.AppendHint(request.hints[hint].first, request.hints[hint].second);
      }
      if (!refused) continue;
      world.Count(Letter::kHintRefused);
      reply.status = AwayStatus();
      reply.failed.push_back({hint, reply.status});
    }
    return reply;
  }

  void Serve(const AppendDeadLetter& request, ReplyTo<DeadLetterAppended> to) {
    AskForLetter(request, to, world.dead_letters.of_events);
  }

  void Start() {
    const dispatcher::Limits limits{
        .events_per_transaction = 3,
        .gather = Duration::zero(),  // it only delays the appends, which faults do here
        .sample_rate = 0.5,
        .modes = {.pull_above = world.character.pull_above,
                  .hold = World::kPullHold,
                  .lag_step = std::chrono::milliseconds(50),
                  .weigh_every = std::chrono::milliseconds(10)},
    };
    logic = std::make_unique<dispatcher::Dispatcher>(
        dispatcher::Dispatcher::Ports{{*this, inbox}, {*this, inbox}, {*this, inbox}, metrics},
        dispatcher::Dispatcher::Setup{RangeLayout(kRanges), world.shards, world.random(),
                                      world.character.own_posts, world.options.guards.logic},
        limits);
  }
};

struct PusherMetrics : pusher::Metrics {
  static constexpr uint32_t kHintsOfRange = 16;

  explicit PusherMetrics(FleetCounts& given) : counts(given) {}
  void Written(const BatchWritten& batch) override {
    counts.trimmed += batch.trimmed;
    Full(batch.full);
  }
  void HintQuarantined(const std::string& reason) override {
    ++counts.quarantined;
    const bool blamed = reason.starts_with("the worker crashed");
    counts.letters[static_cast<size_t>(Letter::kBlamed)] += blamed;
  }
  void RangeContested(Range range, Duration) override { gave_way.insert(range); }
  void Holding(const Held& told) override {
    held = told;
    const auto paused = [&](pusher::PauseCause cause) {
      return told.ranges_paused[static_cast<size_t>(cause)];
    };
    const uint64_t full =
        paused(pusher::PauseCause::kBuffered) + paused(pusher::PauseCause::kParked);
    // No range has reached its own bound.
    const bool together = full > 0 && told.hints < kHintsOfRange;
    counts.letters[static_cast<size_t>(Letter::kHeldHints)] += together;
  }
  void UnitTakenUp(bool went_on) override {
    counts.letters[static_cast<size_t>(Letter::kGoneOn)] += went_on;
  }
  void Full(uint64_t timelines) override {
    counts.letters[static_cast<size_t>(Letter::kRedisFull)] += timelines;
  }
  FleetCounts& counts;
  Held held;
  std::set<Range> gave_way;  // to another owner; not claimed since
};

struct PusherProcess
    : ServesAll<PusherProcess, ReadPostStates, ReadFollowerPage, ReadSync, ReadMutes, ClaimRange,
                ResetRange, SavePosition, ReadNews, TimelineBatch, ApplySync, SetMutes,
                DropTimeline, MarkPart, AcquireRange, RaiseEpoch, SaveStart, SettleRange,
                AppendDeadLetter, WeighAuthor>,
      RedisCaller,
      Consumes<pusher::Pusher, pusher::Input> {
  using RedisCaller::RedisCaller;

  PusherMetrics metrics{world.counts};
  std::map<Range, Session> claimed;       // range -> connection it was claimed in
  std::map<PostKey, PostState> believed;  // truth_after_hint off
  std::set<Range> tried;                  // ranges that try their hints one by one
  bool upgraded = false;                  // it knows hints of the newer version
  bool draining = false;

  // The record as this program reads it. A program that is not upgraded sees a higher version than
  // its own.
  Record Fetched(Record record) {
    if (world.character.odd.newer == 0 || !OddHints::IsOfNewer(record.value)) return record;
    if (upgraded) {
      record.value = OddHints::Understood(std::move(record.value));
    } else {
      world.Count(Letter::kStoodBefore);
    }
    return record;
  }

  template <typename R>
  void Serve(R request, ReplyTo<typename R::Reply> to) {
    if constexpr (std::is_same_v<R, AcquireRange>) metrics.gave_way.erase(request.range);
    if constexpr (std::is_same_v<R, SaveStart>) tried.insert(request.range);
    if constexpr (std::is_same_v<typename R::Reply, RangeOwned>) {
      const RangeOwned failed{.id = request.id, .status = AwayStatus()};
      Ask(to, "owner", failed, [this, request, failed] {
        if (!world.OwnersAway()) return world.mysql.Do(request);
        world.Count(Letter::kOwnersAway);
        return failed;
      });
    } else if constexpr (std::is_same_v<R, ReadPostStates> || std::is_same_v<R, ReadFollowerPage> ||
                         std::is_same_v<R, ReadSync> || std::is_same_v<R, ReadMutes>) {
      AskTruth(std::move(request), to);
    } else {
      AskTimelines(std::move(request), to);
    }
  }
  void Serve(const AppendDeadLetter& request, ReplyTo<DeadLetterAppended> to) {
    AskForLetter(request, to, world.odd_hints.letters);
  }
  void Serve(const WeighAuthor& request, ReplyTo<AuthorWeighed> to) {
    const AuthorWeighed failed{request.id, AwayStatus()};
    Ask(to, "weight", failed, [this, request, failed] {
      if (Away(request.shard)) return failed;
      world.Count(Letter::kWeighed);
      return world.mysql.Do(request);
    });
  }

  template <typename R>
  void AskTruth(R request, ReplyTo<typename R::Reply> to) {
    typename R::Reply failed;
    failed.id = request.id;
    failed.status = AwayStatus();
    Ask(to, "truth", failed, [this, request, failed] {
      if (TruthAway(AuthorOf(request))) return failed;
      typename R::Reply reply = ServerOf(AuthorOf(request)).Do(request);
      if (Never()) {
        reply = failed;
        reply.status = Status::Never("a row that cannot be read");
      } else if constexpr (std::is_same_v<R, ReadFollowerPage>) {
        if (reply.followers.size() > world.character.page) world.Count(Letter::kLargePage);
      } else if constexpr (std::is_same_v<R, ReadPostStates>) {
        if (!world.options.guards.truth_after_hint) Believe(request, reply);
      }
      return reply;
    });
  }

  static UserId AuthorOf(const ReadPostStates& request) { return request.posts.at(0).first; }
  static UserId AuthorOf(const ReadFollowerPage& request) { return request.author; }
  static UserId AuthorOf(const ReadSync& request) { return request.author; }
  static UserId AuthorOf(const ReadMutes& request) { return request.reader; }

  // An author's posts and followers lie on one shard.
  bool TruthAway(UserId author) {
    const Shard shard = world.shards.ShardOf(author);
    if (!(world.options.guards.truth_proved ? Away(shard) : world.Away(shard))) return false;
    world.Count(Letter::kTruthAway);
    return true;
  }

  // The mutation: the old server is still read and believed.
  const fakes::FakeMysql& ServerOf(UserId author) const {
    const Shard shard = world.shards.ShardOf(author);
    const bool astray = world.primaries.LeadsAstray(incarnation, shard);
    return astray && world.primaries.Before(shard) ? *world.primaries.Before(shard) : world.mysql;
  }

  // An answer that never changes: the hint is quarantined.
  bool Never() {
    if (!world.Strikes(world.character.never)) return false;
    world.Count(Letter::kNever);
    return true;
  }

  // The mutation: the result of a read for an earlier hint is used for a later one.
  void Believe(const ReadPostStates& asked, PostStates& reply) {
    for (size_t i = 0; i < asked.posts.size(); ++i) {
      reply.posts[i] = believed.emplace(asked.posts[i], reply.posts[i]).first->second;
    }
  }

  // The adapter implements the session rule of live_timelines.h; here it is simulated.
  template <typename R>
  void AskTimelines(R request, ReplyTo<typename R::Reply> to) {
    const Guards& guards = world.options.guards;
    typename R::Reply lost;
    lost.id = request.id;
    lost.status = Status::Later("redis", "the connection was lost");
    if constexpr (requires { lost.needs_claim; }) {
      lost.needs_claim = guards.claim_after_reconnect;
      if (guards.claim_after_reconnect && claimed[request.range] != SessionOf(request.range))
        return to(lost);
    }
    if constexpr (std::is_same_v<R, ClaimRange>) {
      claimed[request.range] = SessionOf(request.range);
      if (metrics.gave_way.erase(request.range) > 0) world.Count(Letter::kDuel);
    }
    CallRedis(std::move(request), to, lost);
  }

  void Start() {
    claimed.clear();
    Connect();
    believed.clear();
    tried.clear();
    metrics.held = {};
    metrics.gave_way.clear();
    draining = false;
    pusher::Limits limits{.window = world.window(),
                          .timelines_per_batch = 3,
                          .batches_in_flight = 3,
                          .posts_per_unit = 3,
                          .syncs_per_unit = 3};
    limits.followers_per_page = limits.followers_on_first_page = world.character.page;
    if (world.character.large_page > 0) limits.followers_per_page = world.character.large_page;
    limits.news_per_call = world.character.news;
    limits.follower_lists = world.character.lists;
    limits.follower_lists_age = std::chrono::milliseconds(world.character.list_age_ms);
    limits.large_pages_in_flight = 2;  // so few that some have to wait
    limits.buffered_hints_per_range = PusherMetrics::kHintsOfRange;
    limits.parked_hints_per_range = PusherMetrics::kHintsOfRange;
    limits.span_per_range = 32;
    if (world.character.held_hints > 0) limits.held_hints = world.character.held_hints;
    limits.save_position_every = std::chrono::milliseconds(20);
    limits.check_position_every = std::chrono::milliseconds(60);
    limits.settle_after = std::chrono::milliseconds(100);
    limits.backoff = {std::chrono::milliseconds(2), std::chrono::milliseconds(20)};
    limits.probe = limits.takeover = limits.backoff;
    if (world.character.short_contests) {
      limits.contested = {std::chrono::milliseconds(4), std::chrono::milliseconds(40)};
      limits.peace = std::chrono::milliseconds(80);
      limits.last_words = std::chrono::milliseconds(20);
    }
    logic = std::make_unique<pusher::Pusher>(
        pusher::Ports{{*this, inbox},
                      {*this, inbox},
                      {*this, inbox},
                      {*this, inbox},
                      {*this, inbox},
                      metrics},
        pusher::Setup{RangeLayout(kRanges), 1, world.random(), world.options.guards.logic,
                      world.shards, world.character.own_posts},
        limits);
  }
};

}  // namespace fanline::sim
