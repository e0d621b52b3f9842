#include "tests/sim/fleet.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <set>

#include "dispatcher/dispatcher.h"
#include "fanline/event_codec.h"
#include "pusher/pusher.h"
#include "tests/sim/network.h"
#include "timeline/rebuild.h"

namespace fanline::sim {
namespace {

constexpr int kRanges = 4;
constexpr int kFeedPartitions = 2;
constexpr uint64_t kFirstAuthor = 101;
constexpr uint64_t kFirstPost = 1'000;
constexpr UnixMs kEpoch = 1'000'000;
constexpr int kPhases = 4;       // each ends at rest, and is checked
constexpr int kCalmRounds = 40;  // far longer than the look at pos: takes to notice a rollback

using Log = std::vector<Record>;

}  // namespace

// A topic partition's consumers: who the group gave it to, and who still believes to have it.
struct Assignment {
  int owner = -1;
  int64_t committed = 0;
};

struct Fleet::World {
  explicit World(FleetOptions given)
      : options(given),
        random(given.seed),
        redis(RangeLayout(kRanges), {}),
        mysql(RangeLayout(kRanges), 2) {
    DrawCharacter();
    redis = fakes::FakeRedis(RangeLayout(kRanges), window());
    redis.rules = given.guards.redis;
    mysql.rules = given.guards.mysql;
    feed.resize(kFeedPartitions);
    tasks.resize(kRanges);
    feed_group.resize(kFeedPartitions);
    task_group.resize(kRanges);
    snapshot = redis;
  }

  // ---- this schedule's character (swarm testing) ------------------------------------------------
  // Each seed has its own mix: a fault that strikes all the time heals or hides what another one
  // broke, so many schedules know only a few kinds.
  struct Character {
    uint32_t window = 6;  // small: trims all the time; large: keeps what went wrong long ago
    uint64_t readers = 1, authors = 1, posts = 1;
    uint64_t carry_out = 1, turn = 1, client = 1, reader = 1, fault = 0;  // weights
    uint64_t burst = 1;  // calls carried out at once
    uint64_t publish = 1, change = 1, follow = 1;
    uint64_t time_out = 0, crash_pusher = 0, crash_dispatcher = 0, move_range = 0, move_feed = 0;
    uint64_t snapshot = 0, rollback = 0, flush = 0, expire = 0;
    int hold_orphans = 0;  // percent: how rarely a captured write is carried out
    int notice = 20;       // percent per turn: how soon a zombie notices
    int recent = 0;        // percent of changes to one of the last posts
    int slow = 0;          // percent of calls that take very long
    int slow_rebuild = 0;  // percent of a rebuild's steps that are put off
    int mirror_lag = 1;    // how long a reverse row may take, in turns of the network
    int late = 0;          // percent of posts that arrive late
  };
  Character character;
  WindowLimits window() const { return {character.window, character.window + 20}; }

  void DrawCharacter() {
    const auto weight = [this](uint64_t most) { return Chance(50) ? 0 : 1 + Pick(most); };
    character.window = static_cast<uint32_t>(Chance(50) ? 6 : 6 + Pick(40));
    character.readers = 1 + Pick(4);
    character.authors = 1 + Pick(3);
    character.posts = 5 + Pick(60);
    character.carry_out = 20 + Pick(30);
    character.turn = 20 + Pick(30);
    character.client = 1 + Pick(8);
    character.reader = 1 + Pick(10);
    character.burst = 1 + Pick(12);
    character.publish = 1 + Pick(6);
    character.change = 1 + Pick(6);
    character.follow = weight(6);
    character.time_out = weight(20);
    character.crash_pusher = weight(3);
    character.crash_dispatcher = weight(4);
    character.move_range = weight(8);
    character.move_feed = weight(4);
    character.snapshot = weight(2);
    character.rollback = character.snapshot == 0 ? 0 : weight(1);
    character.flush = Chance(80) ? 0 : 1;
    character.expire = weight(20);
    character.fault = 1 + Pick(3);
    character.hold_orphans = Chance(50) ? 0 : 50 + static_cast<int>(Pick(50));
    character.notice = 1 + static_cast<int>(Pick(50));
    character.recent = static_cast<int>(Pick(100));
    character.slow = Chance(30) ? 0 : static_cast<int>(Pick(50));
    character.slow_rebuild = Chance(30) ? 0 : 80 + static_cast<int>(Pick(20));
    character.mirror_lag = Chance(50) ? 1 : 1 + static_cast<int>(Pick(200));
    character.late = Chance(50) ? 5 : static_cast<int>(Pick(80));
  }

  // Index of one of the weights, drawn by weight; they are not all 0.
  size_t Draw(std::initializer_list<uint64_t> weights) {
    uint64_t sum = 0;
    for (uint64_t weight : weights) sum += weight;
    uint64_t at = sum == 0 ? 0 : Pick(sum);
    size_t index = 0;
    for (uint64_t weight : weights) {
      if (at < weight) return index;
      at -= weight;
      ++index;
    }
    return weights.size();
  }

  // ---- chance ---------------------------------------------------------------------------------
  uint64_t Pick(uint64_t below) { return random() % below; }
  bool Chance(int percent) { return static_cast<int>(Pick(100)) < percent; }
  void Trace(const std::string& what) {
    if (options.trace) std::printf("%6lld %s\n", static_cast<long long>(now.unix_ms), what.c_str());
  }

  FleetOptions options;
  std::mt19937_64 random;
  Now now{Time(std::chrono::seconds(1)), kEpoch};
  Counts counts;
  bool faults = true;

  // ---- the stores and the network -------------------------------------------------------------
  fakes::FakeRedis redis;
  fakes::FakeRedis snapshot{RangeLayout(kRanges), {}};
  uint64_t redis_run = 1;  // another one after each restart
  fakes::FakeMysql mysql;
  std::vector<Log> feed, tasks;
  std::vector<Assignment> feed_group, task_group;
  Network network;
  uint64_t incarnations = 0;
  uint64_t tokens = 0;

  void Append(std::vector<Log>& topic, int32_t partition, std::string value) {
    Record record;
    record.partition = partition;
    record.offset = static_cast<int64_t>(topic[static_cast<size_t>(partition)].size());
    record.timestamp = now.unix_ms;
    record.value = std::move(value);
    topic[static_cast<size_t>(partition)].push_back(std::move(record));
  }
  void AppendHint(Range range, const Hint& hint) { Append(tasks, range, EncodeHint(hint)); }

  // ---- processes ------------------------------------------------------------------------------
  // What both kinds share: an inbox, and the partitions the process believes to own.
  template <typename Logic, typename Input>
  struct Process {
    uint64_t incarnation = 0;
    std::unique_ptr<Logic> logic;
    std::vector<Input> inbox;
    std::map<int32_t, int64_t> fetch;  // partition -> next offset; absent: not delivered
    std::set<int32_t> paused;
    std::set<int32_t> believes;
  };

  struct DispatcherProcess : PostStore,
                             HintLog,
                             DeadLetters,
                             Process<dispatcher::Dispatcher, dispatcher::Input> {
    World* world = nullptr;
    dispatcher::Metrics metrics;
    void Submit(ApplyEvents request) override { world->SendApply(*this, std::move(request)); }
    void Submit(AppendHints request) override { world->SendHints(*this, std::move(request)); }
    void Submit(AppendDeadLetter request) override {
      world->Reply(*this, "bury", [id = request.id] { return DeadLetterAppended{id, {}}; });
    }
  };

  struct PusherMetrics : pusher::Metrics {
    Counts* counts = nullptr;
    void Trimmed(uint64_t timelines) override { counts->trimmed += timelines; }
    void HintQuarantined(const std::string&) override { ++counts->quarantined; }
  };

  struct PusherProcess : Truth,
                         LiveTimelines,
                         RangeOwners,
                         DeadLetters,
                         Process<pusher::Pusher, pusher::Input> {
    World* world = nullptr;
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
      world->Reply(*this, "bury", [id = request.id] { return DeadLetterAppended{id, {}}; });
    }
  };

  std::vector<std::unique_ptr<DispatcherProcess>> dispatchers;
  std::vector<std::unique_ptr<PusherProcess>> pushers;

  // Puts a reply into the inbox of the caller, unless it is another process by now.
  template <typename P, typename R>
  std::function<void()> Deliver(P& process, R reply) {
    return [&process, owner = process.incarnation, reply] {
      if (process.incarnation == owner) process.inbox.emplace_back(reply);
    };
  }

  template <typename P, typename F>
  void Reply(P& process, const char* name, F make) {
    network.Send({name,
                  [this, &process, make, owner = process.incarnation]() mutable {
                    auto reply = make();
                    return std::function<void()>([&process, owner, reply] {
                      if (process.incarnation == owner) process.inbox.emplace_back(reply);
                    });
                  },
                  {},
                  process.incarnation,
                  false});
  }

  void SendApply(DispatcherProcess& process, ApplyEvents request) {
    auto failed = EventsApplied{request.id, Status::Later("mysql_0", "timed out"), {}};
    const uint64_t owner = process.incarnation;
    network.Send(
        {"rows",
         [this, &process, request, owner] { return DeliverTo(process, owner, mysql.Do(request)); },
         DeliverTo(process, owner, failed), owner, false});
  }

  template <typename P, typename R>
  std::function<void()> DeliverTo(P& process, uint64_t owner, R reply) {
    return [&process, owner, reply] {
      if (process.incarnation == owner) process.inbox.emplace_back(reply);
    };
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
                    [this, &process, owner, asked = *page] {
                      PostPage reply = mysql.Do(asked);
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
                    [this, &process, owner, sync] {
                      return DeliverTo(process, owner, TruthReply(mysql.Do(sync)));
                    },
                    DeliverTo(process, owner, TruthReply(failed)), owner, false});
    }
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
    // A timeout loses the connection: every range claimed in it must be claimed again.
    network.Send({"redis",
                  [this, &process, owner, request] {
                    return DeliverTo(process, owner, TimelineReply(redis.Do(request)));
                  },
                  [this, &process, owner, lost] {
                    if (process.incarnation != owner) return;
                    ++process.connection;
                    process.inbox.emplace_back(TimelineReply(lost));
                  },
                  owner, false});
  }

  // ---- starting, crashing, running a process ---------------------------------------------------
  void StartDispatcher(DispatcherProcess& process) {
    process.world = this;
    process.incarnation = ++incarnations;
    process.inbox.clear();
    process.fetch.clear();
    process.paused.clear();
    process.believes.clear();
    dispatcher::Limits limits;
    limits.events_per_transaction = 3;
    limits.sample_rate = 0.5;
    process.logic = std::make_unique<dispatcher::Dispatcher>(
        dispatcher::Dispatcher::Ports{process, process, process, process.metrics},
        dispatcher::Dispatcher::Setup{RangeLayout(kRanges), ShardMap::Even(1), random()}, limits);
  }

  void StartPusher(PusherProcess& process) {
    process.world = this;
    process.incarnation = ++incarnations;
    process.inbox.clear();
    process.fetch.clear();
    process.paused.clear();
    process.believes.clear();
    process.claimed.clear();
    process.connection = incarnations << 20;
    process.believed.clear();
    process.metrics.counts = &counts;
    pusher::Limits limits;
    limits.window = window();
    limits.timelines_per_batch = 3;
    limits.batches_in_flight = 3;
    limits.posts_per_unit = 3;
    limits.followers_per_page = 2;
    limits.buffered_hints_per_range = 16;
    limits.save_position_every = std::chrono::milliseconds(20);
    limits.check_position_every = std::chrono::milliseconds(60);
    limits.settle_after = std::chrono::milliseconds(100);
    limits.backoff = {std::chrono::milliseconds(2), std::chrono::milliseconds(20)};
    limits.lanes_in_order = options.guards.lanes_in_order;
    process.logic = std::make_unique<pusher::Pusher>(
        pusher::Pusher::Ports{process, process, process, process, process.metrics},
        pusher::Pusher::Setup{RangeLayout(kRanges), 1, random()}, limits);
  }

  // Gives a partition to process `to`; the old owner, if alive, finds out only later (zombie).
  template <typename P>
  void Move(std::vector<Assignment>& group, std::vector<std::unique_ptr<P>>& members, int partition,
            int to) {
    Assignment& assignment = group[static_cast<size_t>(partition)];
    if (assignment.owner == to) return;
    assignment.owner = to;
    P& process = *members[static_cast<size_t>(to)];
    process.believes.insert(partition);
    process.fetch.erase(partition);
    process.inbox.emplace_back(PartitionAssigned{partition, assignment.committed, 0});
  }

  template <typename P>
  void NoticeRevocations(std::vector<Assignment>& group, P& process, int index) {
    for (auto at = process.believes.begin(); at != process.believes.end();) {
      if (group[static_cast<size_t>(*at)].owner == index) {
        ++at;
        continue;
      }
      process.inbox.emplace_back(PartitionRevoked{*at});
      process.fetch.erase(*at);
      process.paused.erase(*at);
      at = process.believes.erase(at);
    }
  }

  template <typename P, typename Starter>
  void Crash(std::vector<Assignment>& group, std::vector<std::unique_ptr<P>>& members, int index,
             Starter start) {
    P& process = *members[static_cast<size_t>(index)];
    network.Orphan(process.incarnation);
    process.logic.reset();
    start(process);
    // What it owned goes to a random member, or comes back to the restarted one.
    for (size_t partition = 0; partition < group.size(); ++partition) {
      if (group[partition].owner != index) continue;
      group[partition].owner = -1;
      Move(group, members, static_cast<int>(partition),
           faults ? static_cast<int>(Pick(members.size())) : index);
    }
  }

  // One turn of a process's main loop: poll, Step, carry out the orders.
  template <typename P>
  void Turn(std::vector<Assignment>& group, const std::vector<Log>& topic, P& process, int index) {
    using Input = typename std::decay_t<decltype(process.inbox)>::value_type;
    std::vector<Input> inputs = std::move(process.inbox);
    process.inbox.clear();
    for (auto& [partition, next] : process.fetch) {
      if (process.paused.contains(partition)) continue;
      const Log& log = topic[static_cast<size_t>(partition)];
      for (uint64_t budget = 1 + Pick(4); budget > 0 && next < static_cast<int64_t>(log.size());
           --budget, ++next) {
        inputs.emplace_back(log[static_cast<size_t>(next)]);
      }
    }
    const auto progress = process.logic->Step(inputs, now);
    for (const auto& seek : progress.orders.seek) {
      process.fetch[seek.partition] = seek.offset;
      process.paused.erase(seek.partition);
    }
    for (int32_t partition : progress.orders.pause) process.paused.insert(partition);
    for (int32_t partition : progress.orders.resume) process.paused.erase(partition);
    for (const auto& commit : progress.orders.commit) {
      Assignment& assignment = group[static_cast<size_t>(commit.partition)];
      if (assignment.owner != index) continue;  // the broker refuses a zombie's commit
      assignment.committed = commit.offset;
    }
  }

  // ---- clients --------------------------------------------------------------------------------
  // What the clients did: the model every timeline is held against.
  std::map<PostId, UserId> author_of;
  UnixMs last_created = kEpoch;
  std::vector<FeedEvent> events;
  std::map<PostId, uint64_t> versions;

  UserId AnyReader() { return UserId{1 + Pick(character.readers)}; }
  UserId AnyAuthor() { return UserId{kFirstAuthor + Pick(character.authors)}; }

  // Something a client does after a while, however long.
  void Later(std::string name, int patience, std::function<void()> action) {
    const auto carry_out = [action = std::move(action)] {
      action();
      return std::function<void()>([] {});
    };
    network.Send({std::move(name), carry_out, {}, 0, false, patience});
  }

  void Emit(const FeedEvent& event) {
    events.push_back(event);
    const int copies = faults && Chance(15) ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      // Producers retry and take their time: events arrive in any order.
      Later("event", 0, [this, event] {
        Append(feed, static_cast<int32_t>(Pick(kFeedPartitions)), EncodeEventJson(event));
      });
    }
  }

  void ClientActs() {
    switch (Draw({character.publish, character.change, character.follow})) {
      case 0:
        Publish();
        return;
      case 1:
        if (!author_of.empty()) ChangePost(AnyPost());
        return;
      default:
        Follow(AnyReader(), AnyAuthor(), Chance(60));
    }
  }

  PostId AnyPost() {
    const uint64_t known = author_of.size();
    const uint64_t among = Chance(character.recent) ? std::min<uint64_t>(known, 3) : known;
    return PostId{kFirstPost + known - 1 - Pick(among)};
  }

  void Publish() {
    if (author_of.size() >= character.posts) return;
    const PostId post{kFirstPost + author_of.size()};
    author_of[post] = AnyAuthor();
    // Late ones and equal ones among them.
    UnixMs created =
        now.unix_ms - static_cast<int64_t>(Chance(character.late) ? Pick(1'000) : Pick(3));
    if (Chance(10)) created = last_created;
    last_created = created;
    Trace(ToString(author_of[post]) + " publishes " + ToString(post));
    Emit({EventKind::kPublished, post, author_of[post], created, 0});
    // An application that publishes again, with another idea of when: the first to arrive wins.
    if (Chance(5))
      Emit({EventKind::kPublished, post, author_of[post],
            created + 1 + static_cast<int64_t>(Pick(50)), 0});
    ++counts.published;
  }

  void ChangePost(PostId post) {
    const UserId author = author_of.at(post);
    switch (Pick(4)) {
      case 0:
        Emit({EventKind::kDeleted, post, author, 0, 0});
        ++counts.deleted;
        return;
      case 1:
      case 2:
        Emit({Chance(50) ? EventKind::kHidden : EventKind::kUnhidden, post, author, 0,
              ++versions[post]});
        ++counts.hidden;
        return;
      default:
        Emit({EventKind::kEdited, post, author, 0, ++versions[post]});
        ++counts.edited;
    }
  }

  // Forward row now; the reverse row and the hint follow by one or two appliers, each in its time.
  void Follow(UserId reader, UserId author, bool live) {
    const uint64_t version = mysql.WriteForward(reader, author, live);
    if (version == 0) return;
    ++(live ? counts.follows : counts.unfollows);
    Trace(ToString(reader) + (live ? " follows " : " unfollows ") + ToString(author));
    const int appliers = faults && Chance(30) ? 2 : 1;
    for (int i = 0; i < appliers; ++i) {
      if (!options.guards.hint_after_truth) EmitSync(reader, author);
      const int patience = Chance(50) ? character.mirror_lag : 0;
      Later("reverse row", patience, [this, reader, author, version, live] {
        mysql.ApplyReverse(reader, author, version, live);
        if (!options.guards.hint_after_truth) return;
        Later("sync hint", 0, [this, reader, author] { EmitSync(reader, author); });
      });
    }
  }
  void EmitSync(UserId reader, UserId author) {
    Trace("sync hint of " + ToString(reader) + " and " + ToString(author));
    AppendHint(RangeLayout(kRanges).RangeOf(reader), Hint::OfSync(reader, author));
  }

  // ---- readers --------------------------------------------------------------------------------
  struct Rebuilding {
    UserId reader{};
    std::unique_ptr<timeline::Rebuild> rebuild;
  };
  std::deque<Rebuilding> rebuilds;
  std::string trouble;  // found on the way

  void StartRebuild() {
    const UserId reader = AnyReader();
    ++counts.rebuilds;
    rebuilds.push_back(
        {reader, std::make_unique<timeline::Rebuild>(
                     window().window, [this] { return std::to_string(++tokens); }, 5, 1)});
  }

  // One step of one rebuild; false when it ended. Each step is an await: anything may come between.
  bool StepRebuild(Rebuilding& at) {
    struct Visitor {
      World& world;
      Rebuilding& at;
      void operator()(const timeline::NeedBegin& need) {
        at.rebuild->OnBegun(world.redis.Begin(at.reader, need.token));
      }
      void operator()(const timeline::NeedFollowees&) {
        at.rebuild->OnFollowees(world.mysql.Followees(at.reader));
      }
      void operator()(const timeline::NeedLastAt& need) {
        at.rebuild->OnLastAt(world.mysql.LastAt(need.authors));
      }
      void operator()(const timeline::NeedOutboxes& need) {
        at.rebuild->OnOutboxes(world.mysql.Outboxes(need.authors, need.after, need.limit));
      }
      void operator()(const timeline::NeedFinish& need) {
        at.rebuild->OnFinished(world.redis.Finish(at.reader, need.token, need.items, need.floor));
      }
      void operator()(const timeline::NothingNeeded&) {}
    };
    std::visit(Visitor{*this, at}, at.rebuild->needed());
    return at.rebuild->result() == timeline::RebuildResult::kUnderWay;
  }

  void ReadPage() {
    const UserId reader = AnyReader();
    const auto page = redis.Read(reader, std::nullopt, 20);
    const auto found = redis.timelines().find(reader);
    if (page.state == TimelineState::kReady && found != redis.timelines().end() &&
        found->second.building) {
      trouble = "reader " + ToString(reader) + " was served a timeline being built";
    }
  }

  void ReaderActs() {
    const uint64_t what = Pick(100);
    if (rebuilds.empty() || (what < 15 && rebuilds.size() < 4)) {
      StartRebuild();
    } else if (what < 25) {
      ReadPage();
    } else {
      const size_t index = Pick(rebuilds.size());
      if (Chance(character.slow_rebuild)) return;
      if (!StepRebuild(rebuilds[index])) {
        rebuilds.erase(rebuilds.begin() + static_cast<std::ptrdiff_t>(index));
      }
    }
  }

  // ---- faults ---------------------------------------------------------------------------------
  void LoseConnections() {
    for (auto& process : pushers) ++process->connection;
  }

  // A call answers kLater to its caller, but is still under way: carried out later, or never.
  void TimeOut() {
    const size_t index = Pick(network.size());
    Call& call = network.at(index);
    if (call.orphan || !call.fail) return;
    ++counts.timeouts;
    Trace("timeout of " + call.name);
    call.fail();
    call.orphan = true;
    call.fail = {};
    if (Chance(40)) network.Take(index);
  }

  void Fault() {
    const Character& of = character;
    switch (Draw({of.time_out, of.crash_pusher, of.crash_dispatcher, of.move_range, of.move_feed,
                  of.snapshot, of.rollback, of.flush, of.expire})) {
      case 0:
        if (!network.empty()) TimeOut();
        return;
      case 1:
        CrashPusher(static_cast<int>(Pick(pushers.size())));
        return;
      case 2:
        CrashDispatcher(static_cast<int>(Pick(dispatchers.size())));
        return;
      case 3:
        ++counts.zombies;
        Trace("a range moves");
        Move(task_group, pushers, static_cast<int>(Pick(kRanges)),
             static_cast<int>(Pick(pushers.size())));
        return;
      case 4:
        Move(feed_group, dispatchers, static_cast<int>(Pick(kFeedPartitions)),
             static_cast<int>(Pick(dispatchers.size())));
        return;
      case 5:
        Trace("snapshot");
        snapshot = redis;
        return;
      case 6:
        // Replicas promoted, backups restored: back to the snapshot, behind a new connection.
        Trace("rollback");
        ++counts.rollbacks;
        redis = snapshot;
        LoseConnections();
        network.Lose("redis");
        return;
      case 7:
        Trace("flush");
        ++counts.flushes;
        redis.FlushAll();
        snapshot = redis;
        return;
      case 8:
        Expire();
        return;
      default:
        return;  // a schedule without faults
    }
  }

  void CrashPusher(int index) {
    Trace("crash of pusher " + std::to_string(index));
    ++counts.crashes;
    Crash(task_group, pushers, index, [this](PusherProcess& process) { StartPusher(process); });
  }

  void CrashDispatcher(int index) {
    Trace("crash of dispatcher " + std::to_string(index));
    ++counts.crashes;
    Crash(feed_group, dispatchers, index,
          [this](DispatcherProcess& process) { StartDispatcher(process); });
  }

  void Expire() {
    const UserId reader = AnyReader();
    if (!redis.timelines().contains(reader)) return;
    ++counts.expiries;
    Trace("expiry of " + ToString(reader));
    redis.Expire(reader);
  }

  // ---- the schedule ---------------------------------------------------------------------------
  void CarryOut(size_t index) {
    Call call = network.Take(index);
    counts.late_writes += call.orphan;
    Trace("carry out " + call.name + (call.orphan ? " (orphan)" : ""));
    const auto deliver = call.carry_out();
    if (deliver && !call.orphan) deliver();
  }

  void AnyTurn() {
    const uint64_t which = Pick(dispatchers.size() + pushers.size());
    if (which < dispatchers.size()) {
      const int index = static_cast<int>(which);
      if (Chance(character.notice)) NoticeRevocations(feed_group, *dispatchers[which], index);
      Turn(feed_group, feed, *dispatchers[which], index);
    } else {
      const size_t at = which - dispatchers.size();
      const int index = static_cast<int>(at);
      if (Chance(character.notice)) NoticeRevocations(task_group, *pushers[at], index);
      Turn(task_group, tasks, *pushers[at], index);
    }
  }

  void Tick(int64_t most_ms) {
    const auto passed = static_cast<int64_t>(Pick(static_cast<uint64_t>(most_ms)));
    now.mono += std::chrono::milliseconds(passed);
    now.unix_ms += passed;
  }

  void Start() {
    for (int i = 0; i < 2; ++i) {
      dispatchers.push_back(std::make_unique<DispatcherProcess>());
      StartDispatcher(*dispatchers.back());
      pushers.push_back(std::make_unique<PusherProcess>());
      StartPusher(*pushers.back());
    }
    for (int i = 0; i < kFeedPartitions; ++i) Move(feed_group, dispatchers, i, i % 2);
    for (int i = 0; i < kRanges; ++i) Move(task_group, pushers, i, i % 2);
    for (uint64_t reader = 1; reader <= character.readers; ++reader) {
      for (uint64_t author = 0; author < character.authors; ++author) {
        if (!Chance(60)) continue;
        const uint64_t version =
            mysql.WriteForward(UserId{reader}, UserId{kFirstAuthor + author}, true);
        mysql.ApplyReverse(UserId{reader}, UserId{kFirstAuthor + author}, version, true);
      }
    }
  }

  void Schedule() {
    faults = true;
    const Character& of = character;
    for (int step = 0; step < options.steps; ++step) {
      Tick(4);
      switch (Draw({of.carry_out, of.turn, of.client, of.reader, of.fault})) {
        case 0:
          // Mostly fast enough that the fleet keeps up: what is only set right at the end hides
          // what went wrong on the way.
          for (uint64_t burst = 1 + Pick(character.burst); burst > 0; --burst) CarryOutAny();
          break;
        case 1:
          AnyTurn();
          break;
        case 2:
          ClientActs();
          break;
        case 3:
          ReaderActs();
          break;
        default:
          Fault();
      }
    }
  }

  // Captured writes are held back: the longer, the more they could spoil.
  void CarryOutAny() {
    if (network.empty()) return;
    const size_t index = Pick(network.size());
    Call& call = network.at(index);
    if (call.orphan && Chance(character.hold_orphans)) return;
    if (call.patience == 0)
      call.patience = Chance(character.slow) ? 1 + static_cast<int>(Pick(30)) : 1;
    if (--call.patience == 0) CarryOut(index);
  }

  // Faults stop and everything under way is carried out: first all but the captured writes, which
  // then strike a fleet that believes to be done.
  bool ComeToRest() {
    faults = false;
    if (!Rest(character.hold_orphans > 0)) return false;
    return Rest(false);
  }

  bool Rest(bool hold_orphans) {
    int calm = 0;
    for (int round = 0; round < 20'000 && calm < kCalmRounds; ++round) {
      for (int burst = 0; burst < 8 && !network.empty(); ++burst) {
        const size_t index = Pick(network.size());
        if (!(hold_orphans && network.at(index).orphan)) CarryOut(index);
      }
      for (size_t i = 0; i < dispatchers.size(); ++i) {
        NoticeRevocations(feed_group, *dispatchers[i], static_cast<int>(i));
        Turn(feed_group, feed, *dispatchers[i], static_cast<int>(i));
      }
      for (size_t i = 0; i < pushers.size(); ++i) {
        NoticeRevocations(task_group, *pushers[i], static_cast<int>(i));
        Turn(task_group, tasks, *pushers[i], static_cast<int>(i));
      }
      // Readers take their time too, so that what is still under way overlaps their rebuilds.
      if (!rebuilds.empty() && Chance(15) && !StepRebuild(rebuilds.front())) rebuilds.pop_front();
      Tick(20);
      calm = AtRest(hold_orphans) ? calm + 1 : 0;
    }
    return calm >= kCalmRounds;
  }

  // Nothing is under way but the look at pos: that never ends.
  bool AtRest(bool hold_orphans) {
    if (!rebuilds.empty()) return false;
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (task_group[i].committed != static_cast<int64_t>(tasks[i].size())) return false;
    }
    for (size_t i = 0; i < feed.size(); ++i) {
      if (feed_group[i].committed != static_cast<int64_t>(feed[i].size())) return false;
    }
    for (const auto& process : dispatchers) {
      if (process->logic->events_open() > 0) return false;
    }
    for (const auto& process : pushers) {
      if (process->logic->hints_open() > 0) return false;
      if (process->logic->ranges_ready() < process->logic->ranges()) return false;
    }
    for (size_t i = 0; i < network.size(); ++i) {
      const Call& call = network.at(i);
      if (call.orphan ? !hold_orphans : call.owner == 0) return false;
    }
    return true;
  }

  // ---- what must be true ----------------------------------------------------------------------
  std::vector<Item> Expected(UserId reader) const {
    std::map<PostId, PostState> states;
    for (const FeedEvent& event : events) ApplyEvent(event, states[event.post]);
    std::vector<Item> items;
    for (const auto& [post, state] : states) {
      if (!state.visible()) continue;
      const auto edge = mysql.forward().find({reader, author_of.at(post)});
      if (edge != mysql.forward().end() && edge->second.live) {
        // Of two publishes the first to be stored wins, which no client can know.
        items.push_back({post, *mysql.posts().at({author_of.at(post), post}).created_at});
      }
    }
    std::sort(items.begin(), items.end(), IsNewer);
    return items;
  }

  static std::string Text(const std::vector<Item>& items) {
    std::string text;
    for (const Item& item : items) {
      text += " " + ToString(item.post) + "@" + std::to_string(item.created_at);
    }
    return text.empty() ? " (none)" : text;
  }

  std::string CheckTimeline(UserId reader, const fakes::FakeRedis::Timeline& timeline) {
    if (timeline.building) return {};  // abandoned by a reader: its TTL takes it
    const Floor floor = *timeline.floor;
    std::vector<Item> expected = Expected(reader);
    std::erase_if(expected, [floor](const Item& item) { return item.created_at <= floor; });
    std::vector<Item> held;
    for (const auto& [post, created_at] : timeline.items) {
      if (created_at > floor) held.push_back({post, created_at});
    }
    std::sort(held.begin(), held.end(), IsNewer);
    ++counts.checked_timelines;
    counts.checked_items += held.size();
    if (held != expected) {
      return "timeline of reader " + ToString(reader) + " with floor " + std::to_string(floor) +
             "\n  holds   " + Text(held) + "\n  expected" + Text(expected);
    }
    if (floor != kNoFloor && timeline.items.size() < window().fell_short()) {
      return "timeline of reader " + ToString(reader) + " holds only " +
             std::to_string(timeline.items.size()) + " items above a floor";
    }
    if (timeline.items.size() > window().max_entries) {
      return "timeline of reader " + ToString(reader) + " outgrew its bound";
    }
    return {};
  }

  std::string Check() {
    if (!trouble.empty()) return trouble;
    for (const auto& [key, edge] : mysql.forward()) {
      const auto reverse = mysql.reverse().find(key);
      if (reverse == mysql.reverse().end() ? edge.live : reverse->second.live != edge.live) {
        return "forward and reverse disagree";
      }
    }
    for (const auto& [reader, timeline] : redis.timelines()) {
      if (auto wrong = CheckTimeline(reader, timeline); !wrong.empty()) return wrong;
    }
    return {};
  }
};

Fleet::Fleet(FleetOptions options) : world_(std::make_unique<World>(options)) {}
Fleet::~Fleet() = default;
const Fleet::Counts& Fleet::counts() const { return world_->counts; }

std::string Fleet::Run() {
  world_->Start();
  for (int phase = 0; phase < kPhases; ++phase) {
    world_->Schedule();
    if (!world_->ComeToRest()) return "the fleet did not come to rest";
    if (auto wrong = world_->Check(); !wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace fanline::sim
