#include "dispatcher/dispatcher.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "tests/fakes/fake_mysql.h"
#include "tests/fakes/requests.h"

namespace fanline::dispatcher {
namespace {

constexpr UserId kAnn{1001};
constexpr PostId kPost{77};
constexpr uint32_t kRanges = 4;

// A dispatcher whose calls are answered when the test says so; two shards, or more.
struct World : ServesAll<World, ApplyEvents, AnnounceAuthor, SwitchAuthor, CountPulled, AppendHints,
                         AppendDeadLetter> {
  explicit World(Limits limits = Limits{}, uint32_t ranges = kRanges, uint32_t shards = 2,
                 bool own_posts = false)
      : dispatcher({{*this, inbox}, {*this, inbox}, {*this, inbox}, metrics},
                   {RangeLayout(ranges), ShardMap::Even(shards), 1, own_posts}, limits) {}

  void Serve(ApplyEvents request, ReplyTo<EventsApplied>) {
    transactions.push_back(std::move(request));
  }
  void Serve(AnnounceAuthor request, ReplyTo<AuthorAnnounced>) {
    announced.push_back(request.author);
    inbox.emplace_back(mysql.Do(request));
  }
  void Serve(SwitchAuthor request, ReplyTo<AuthorSwitched>) {
    inbox.emplace_back(mysql.Do(request));
    switches.push_back(std::move(request));
  }
  void Serve(CountPulled request, ReplyTo<PulledCounted>) { inbox.emplace_back(mysql.Do(request)); }
  void Serve(AppendHints request, ReplyTo<HintsAppended>) { appends.push_back(std::move(request)); }
  void Serve(AppendDeadLetter request, ReplyTo<DeadLetterAppended>) {
    dead_letters.push_back(std::move(request));
  }

  void Store() {
    for (const auto& request : std::exchange(transactions, {})) {
      stored.push_back(request.events.size());
      inbox.emplace_back(mysql.Do(request));
    }
  }
  void Acknowledge() {
    for (auto& request : std::exchange(appends, {})) {
      inbox.emplace_back(HintsAppended{request.id, {}});
      log.push_back(std::move(request));
    }
    for (auto& request : std::exchange(dead_letters, {})) {
      inbox.emplace_back(DeadLetterAppended{request.id, {}});
      letters.push_back(std::move(request.letter));
    }
  }
  void Step() {
    std::vector<Input> inputs = std::exchange(inbox, {});
    const Progress progress = dispatcher.Step(inputs, now);
    next_timer = progress.next_timer;
    for (const auto& at : progress.orders.seek) sought = at.offset;
    for (const auto& at : progress.orders.commit) committed = at.offset;
    paused += progress.orders.pause.size();
    resumed += progress.orders.resume.size();
  }
  void RunUntilIdle() {
    do {
      Step();
      Store();
      Acknowledge();
    } while (!inbox.empty());
    Pass(std::chrono::seconds(1));
    Step();
  }
  void Pass(Duration time) { now.mono += time; }
  void Assign(int32_t partition = 0, int64_t start = 0, int64_t end = 1'000'000) {
    inbox.emplace_back(PartitionAssigned{partition, start, 0, end});
    Step();
  }
  void Give(const FeedEvent& event, Headers headers = {}) {
    GiveBytes(EncodeEventJson(event), std::move(headers));
  }
  void GiveBytes(std::string bytes, Headers headers = {}) {
    Record record;
    record.topic = "feed-events";
    record.offset = next_offset++;
    record.timestamp = now.unix_ms;
    record.value = std::move(bytes);
    record.headers = std::move(headers);
    inbox.emplace_back(std::move(record));
  }

  struct Told : Metrics {
    void EventRejected(const std::string&, const std::string& trace_id) override {
      rejected.push_back(trace_id);
    }
    void TracedEventDone(const FeedEvent& event, const std::string& trace_id, Duration) override {
      traced.emplace_back(event.post, trace_id);
    }
    std::vector<std::string> rejected;
    std::vector<std::pair<PostId, std::string>> traced;
  };

  fakes::FakeMysql mysql{RangeLayout(kRanges), 100};
  Told metrics;
  Now now{Time(std::chrono::seconds(100)), 1'700'000'000'000};
  fakes::Inbox<Input> inbox;
  std::vector<ApplyEvents> transactions;
  std::vector<AppendHints> appends, log;
  std::vector<AppendDeadLetter> dead_letters;
  std::vector<UserId> announced;
  std::vector<SwitchAuthor> switches;
  std::vector<DeadLetter> letters;
  std::vector<size_t> stored;
  int64_t next_offset = 0;
  int64_t sought = -1;
  int64_t committed = -1;
  size_t paused = 0, resumed = 0;
  std::optional<Time> next_timer;
  Dispatcher dispatcher;
};

FeedEvent Published(PostId post = kPost, UserId author = kAnn) {
  return {EventKind::kPublished, post, author, 1'700'000'000'000, 0};
}

UserId AuthorOn(Shard shard, uint32_t shards = 2) {
  for (uint64_t id = 1;; ++id) {
    if (ShardMap::Even(shards).ShardOf(UserId{id}) == shard) return UserId{id};
  }
}

TEST(Dispatcher, ALogThatLostItsTailIsReadFromItsFirstRecord) {
  World w;
  w.Assign(0, 50, 45);
  EXPECT_EQ(w.sought, 0);
  EXPECT_EQ(w.committed, 0) << "or whoever starts next reports it again";
  w.Give(Published());
  w.RunUntilIdle();
  EXPECT_EQ(w.committed, 1);
}

TEST(Dispatcher, StoresTheRowFirstAndThenAppendsOneHintPerRange) {
  World w;
  w.Assign();
  w.Give(Published());
  w.Step();
  ASSERT_EQ(w.transactions.size(), 1u);
  EXPECT_TRUE(w.appends.empty()) << "a hint before the row is committed";
  w.Store();
  w.Step();
  ASSERT_EQ(w.appends.size(), 1u);
  ASSERT_EQ(w.appends[0].hints.size(), kRanges);
  for (uint32_t range = 0; range < kRanges; ++range) {
    EXPECT_EQ(w.appends[0].hints[range].first, static_cast<Range>(range));
    EXPECT_EQ(w.appends[0].hints[range].second.author, kAnn);
  }
}

TEST(Dispatcher, CommitsAfterEveryHintIsAcknowledged) {
  World w;
  w.Assign();
  w.Give(Published());
  w.Step();
  w.Store();
  w.Step();
  w.Pass(std::chrono::seconds(1));
  w.Step();
  EXPECT_LE(w.committed, 0);
  w.RunUntilIdle();
  EXPECT_EQ(w.committed, 1);
}

TEST(Dispatcher, AsksToBeSteppedWhenThereIsSomethingToCommit) {
  Limits limits;
  World w(limits);
  const auto idle = [&] { return w.next_timer > w.now.mono + limits.commit_every; };
  w.Assign();
  EXPECT_TRUE(idle());
  w.Give(Published());
  w.Step();
  w.Store();
  w.Step();
  w.Acknowledge();
  w.Step();
  ASSERT_TRUE(w.next_timer);
  EXPECT_LE(*w.next_timer, w.now.mono + limits.commit_every);
  w.Pass(*w.next_timer - w.now.mono);
  w.Step();
  EXPECT_EQ(w.committed, 1);
  EXPECT_TRUE(idle());
}

// ---- posts that are merged at read ------------------------------------------------------------

TEST(Dispatcher, APostThatIsMergedAtReadHasItsAuthorAnnouncedOnce) {
  World w;
  w.mysql.SetMode(kAnn, true);
  w.Assign();
  w.Give(Published());
  w.RunUntilIdle();
  ASSERT_EQ(w.log.size(), 1u);
  EXPECT_EQ(w.log.front().hints.size(), kRanges);
  EXPECT_EQ(w.announced, std::vector<UserId>{kAnn});
  w.Give(Published(PostId{78}));
  w.Give({EventKind::kDeleted, kPost, kAnn, 0, 0});
  w.RunUntilIdle();
  EXPECT_EQ(w.log.size(), 1u) << "everybody was told";
  EXPECT_EQ(w.announced.size(), 1u);
  EXPECT_EQ(w.committed, 3);
}

TEST(Dispatcher, NoAuthorIsAnnouncedBeforeTheHintsAreAcknowledged) {
  World w;
  w.mysql.SetMode(kAnn, true);
  w.Assign();
  w.Give(Published());
  w.Step();
  w.Store();
  w.Step();
  ASSERT_EQ(w.appends.size(), 1u);
  w.inbox.emplace_back(HintsAppended{w.appends.front().id, Status::Later("kafka", "away")});
  w.appends.clear();
  w.Step();
  EXPECT_TRUE(w.announced.empty());
  w.Pass(std::chrono::minutes(1));
  w.Step();
  w.Acknowledge();
  w.Step();
  EXPECT_EQ(w.announced, std::vector<UserId>{kAnn});
}

// A rebuild learns of marked authors from when they last posted: a delete alone tells it nothing.
TEST(Dispatcher, OnlyAPublishedPostAnnouncesItsAuthor) {
  World w;
  w.mysql.SetMode(kAnn, true);
  w.Assign();
  w.Give({EventKind::kDeleted, kPost, kAnn, 0, 0});
  w.RunUntilIdle();
  EXPECT_EQ(w.log.size(), 1u);
  EXPECT_TRUE(w.announced.empty());
}

TEST(Dispatcher, AnEventInTheDeadLettersAnnouncesNobody) {
  World w;
  w.mysql.SetMode(kAnn, true);
  w.Assign();
  w.Give(Published());
  w.Step();
  w.Store();
  w.Step();
  ASSERT_EQ(w.appends.size(), 1u);
  w.inbox.emplace_back(HintsAppended{w.appends.front().id, Status::Never("too large")});
  w.appends.clear();
  w.RunUntilIdle();
  EXPECT_EQ(w.letters.size(), 1u);
  EXPECT_TRUE(w.announced.empty());
}

// ---- authors that are switched by themselves ---------------------------------------------------

Limits SwitchingAbove(uint64_t cost) {
  Limits limits;
  limits.modes.pull_above = cost;
  return limits;
}

std::vector<Range> WeighedIn(const AppendHints& append) {
  std::vector<Range> ranges;
  for (const auto& [range, hint] : append.hints) {
    if (std::get<Hint::Post>(hint.what).weighed_since > 0) ranges.push_back(range);
  }
  return ranges;
}

// A dispatcher that weighs everybody with a follower; Ann has one.
struct Weighing : World {
  explicit Weighing(uint64_t above = 10) : World(SwitchingAbove(above)) {
    mysql.ApplyReverse(UserId{5}, kAnn, 1, true);
    Assign();
  }
  void Weigh(uint64_t live) { mysql.Do(WeighAuthor{1, 0, kAnn, live, {}}); }
};

TEST(Dispatcher, APostIsWeighedInOneOfItsRanges) {
  Weighing w;
  w.Give(Published());
  w.RunUntilIdle();
  ASSERT_EQ(w.log.size(), 1u);
  ASSERT_EQ(w.log[0].hints.size(), kRanges);
  const auto in = WeighedIn(w.log[0]);
  ASSERT_EQ(in.size(), 1u);
  const auto& hint = w.log[0].hints[static_cast<size_t>(in[0])].second;
  EXPECT_EQ(std::get<Hint::Post>(hint.what).weighed_since, w.now.unix_ms);
}

TEST(Dispatcher, PostsAreWeighedInAllRangesInTurnAndInTheSameAgain) {
  std::map<Range, int> in;
  for (uint64_t post = 1; post <= 200; ++post) {
    Weighing w, again;
    w.Give(Published(PostId{post}));
    again.Give(Published(PostId{post}));
    w.RunUntilIdle();
    again.RunUntilIdle();
    ASSERT_EQ(WeighedIn(w.log[0]).size(), 1u);
    EXPECT_EQ(WeighedIn(w.log[0]), WeighedIn(again.log[0]));
    ++in[WeighedIn(w.log[0])[0]];
  }
  ASSERT_EQ(in.size(), kRanges);
  for (const auto& [range, posts] : in) EXPECT_GT(posts, 25) << range;
}

TEST(Dispatcher, OfPostsThatAreStoredTogetherOneIsWeighed) {
  Weighing w;
  for (uint64_t post = 1; post <= 3; ++post) w.Give(Published(PostId{post}));
  w.Give(Published(PostId{9}, UserId{1002}));
  w.RunUntilIdle();
  size_t weighed = 0;
  for (const auto& append : w.log) weighed += WeighedIn(append).size();
  EXPECT_EQ(weighed, 1u) << "and nobody who has no follower";
}

TEST(Dispatcher, OnlyPublishedPostsAreWeighed) {
  Weighing w;
  w.Give({EventKind::kDeleted, kPost, kAnn, 0, 0});
  w.RunUntilIdle();
  ASSERT_EQ(w.log.size(), 1u);
  EXPECT_TRUE(WeighedIn(w.log[0]).empty());
}

TEST(Dispatcher, WhoIsAboveIsPulledFromTheNextPostOn) {
  Weighing w;
  w.Weigh(10);
  w.Give(Published());
  w.RunUntilIdle();
  ASSERT_EQ(w.switches.size(), 1u);
  EXPECT_TRUE(w.mysql.posts().at({kAnn, kPost}).pushed);
  w.Give(Published(PostId{78}));
  w.RunUntilIdle();
  EXPECT_FALSE(w.mysql.posts().at({kAnn, PostId{78}}).pushed);
  EXPECT_TRUE(w.mysql.IsMarked(kAnn));
  EXPECT_EQ(w.announced, std::vector<UserId>{kAnn});
  EXPECT_EQ(w.switches.size(), 1u);
}

// Every range must be told of the author before he is announced, also while he is weighed.
TEST(Dispatcher, AWeighedPostThatIsMergedAtReadTellsAllRangesUntilTheAuthorIsAnnounced) {
  Weighing w;
  w.mysql.SetMode(kAnn, true);
  w.mysql.LeaveMode(kAnn);
  w.Give(Published());
  w.RunUntilIdle();
  ASSERT_EQ(w.log.size(), 1u);
  EXPECT_EQ(w.log[0].hints.size(), kRanges);
  EXPECT_EQ(WeighedIn(w.log[0]).size(), 1u);
  EXPECT_EQ(w.announced.size(), 1u);
  w.Give(Published(PostId{78}));
  w.RunUntilIdle();
  ASSERT_EQ(w.log.size(), 2u);
  ASSERT_EQ(w.log[1].hints.size(), 1u) << "one range is enough to weigh";
  EXPECT_EQ(WeighedIn(w.log[1]).size(), 1u);
  w.Weigh(10);
  w.Give(Published(PostId{79}));
  w.RunUntilIdle();
  EXPECT_EQ(w.log.size(), 2u) << "weighed just now";
  EXPECT_EQ(w.committed, 3);
}

TEST(Dispatcher, WhoWasSetByHandIsNeitherWeighedNorSwitched) {
  Weighing w;
  w.mysql.SetMode(kAnn, false);
  w.Weigh(1'000'000);
  w.mysql.relations.now += 1'000'000;
  w.Give(Published());
  w.RunUntilIdle();
  EXPECT_TRUE(w.switches.empty());
  EXPECT_TRUE(WeighedIn(w.log[0]).empty());
}

TEST(Dispatcher, ByDefaultNobodyIsWeighedOrSwitched) {
  World w;
  w.mysql.ApplyReverse(UserId{5}, kAnn, 1, true);
  w.mysql.Do(WeighAuthor{1, 0, kAnn, 1'000'000'000, {}});
  w.mysql.relations.now += 1'000'000;
  w.Assign();
  w.Give(Published());
  w.RunUntilIdle();
  EXPECT_TRUE(w.switches.empty());
  EXPECT_TRUE(WeighedIn(w.log[0]).empty());
}

// ---- ranges that hold no follower -------------------------------------------------------------

constexpr UserId kOfRange0{12}, kOfRange2{2}, kOfRange3{1}, kAlsoOfRange3{4};

Limits LeavingOut() {
  Limits limits;
  limits.leave_out_from = kRanges;
  limits.sample_rate = 1;
  return limits;
}

void Follow(World& w, UserId reader, bool live = true) {
  static uint64_t version = 0;
  w.mysql.ApplyReverse(reader, kAnn, ++version, live);
}

std::vector<Range> RangesOf(const AppendHints& request) {
  std::vector<Range> ranges;
  for (const auto& [range, hint] : request.hints) ranges.push_back(range);
  return ranges;
}

TEST(EmptyRanges, FollowersAreReadFromSixtyFourRangesOn) {
  for (const auto& [ranges, read] : {std::pair(32u, 0u), {64u, 64u}, {1024u, 1024u}}) {
    World w(Limits{}, ranges);
    w.Assign();
    w.Give(Published());
    w.Step();
    ASSERT_EQ(w.transactions.size(), 1u);
    EXPECT_EQ(w.transactions[0].most_followers, read);
    w.RunUntilIdle();
    size_t hints = 0;
    for (const auto& request : w.log) hints += request.hints.size();
    EXPECT_EQ(hints, read == 0 ? ranges : 0) << "nobody follows; with few ranges nobody is asked";
  }
}

TEST(EmptyRanges, OnlyRangesThatHoldAFollowerGetAHint) {
  World w(LeavingOut());
  w.Assign();
  Follow(w, kOfRange0);
  Follow(w, kOfRange2);
  Follow(w, kOfRange2, false);
  Follow(w, kOfRange3);
  Follow(w, kAlsoOfRange3);
  w.Give(Published());
  w.RunUntilIdle();
  ASSERT_EQ(w.log.size(), 1u);
  EXPECT_EQ(RangesOf(w.log[0]), (std::vector<Range>{0, 3}));
  EXPECT_EQ(w.committed, 1);
}

TEST(EmptyRanges, TheAuthorsOwnRangeIsNotLeftOutWhereHomeTimelinesHoldOnesOwnPosts) {
  const Range own = RangeLayout(kRanges).RangeOf(kAnn);
  const UserId others[] = {kOfRange0, kOfRange2, kOfRange3};
  for (const UserId follower : others) {
    World w(LeavingOut(), kRanges, 2, true);
    w.Assign();
    Follow(w, follower);
    w.Give(Published());
    w.RunUntilIdle();
    std::set<Range> expected{RangeLayout(kRanges).RangeOf(follower), own};
    ASSERT_EQ(w.log.size(), 1u);
    EXPECT_EQ(RangesOf(w.log[0]), std::vector<Range>(expected.begin(), expected.end()));
  }
}

TEST(EmptyRanges, ASampledHintSaysItsRangeAndHowManyThereAre) {
  World w(LeavingOut());
  w.Assign();
  Follow(w, kOfRange2);
  Follow(w, kOfRange3);
  w.Give(Published());
  w.RunUntilIdle();
  ASSERT_EQ(w.log.size(), 1u);
  for (const auto& [range, hint] : w.log[0].hints) {
    const auto& sample = std::get<Hint::Post>(hint.what).sample;
    ASSERT_TRUE(sample);
    EXPECT_EQ(sample->part, static_cast<uint32_t>(range));
    EXPECT_EQ(sample->parts, 2u);
    EXPECT_EQ(sample->followers, 2u);
  }
}

TEST(EmptyRanges, AnEventWithoutAnyHintIsDoneOnceItsRowIsCommitted) {
  World w(LeavingOut());
  w.Assign();
  w.Give(Published());
  w.Step();
  w.Pass(std::chrono::seconds(1));
  w.Step();
  EXPECT_LE(w.committed, 0) << "its row is not committed";
  w.Store();
  w.Step();
  EXPECT_TRUE(w.appends.empty()) << "there is nothing to acknowledge";
  w.RunUntilIdle();
  EXPECT_EQ(w.committed, 1);
  EXPECT_EQ(w.dispatcher.events_open(), 0u);
}

TEST(EmptyRanges, AllRangesGetHintsOfAnAuthorWhoseFollowersAreNotKnown) {
  World w(LeavingOut());
  w.Assign();
  w.Give(Published());
  w.Step();
  ASSERT_EQ(w.transactions.size(), 1u);
  EventsApplied applied{w.transactions.front().id, {}, {{}}};
  applied.followers = Status::Later("mysql_0", "the read was cut");
  w.transactions.clear();
  w.inbox.emplace_back(std::move(applied));
  w.RunUntilIdle();
  ASSERT_EQ(w.log.size(), 1u);
  EXPECT_EQ(RangesOf(w.log[0]), (std::vector<Range>{0, 1, 2, 3}));
  EXPECT_EQ(w.committed, 1) << "the row is committed all the same";
}

TEST(EmptyRanges, ARetriedAppendKeepsItsWholeSet) {
  World w(LeavingOut());
  w.Assign();
  Follow(w, kOfRange0);
  Follow(w, kOfRange3);
  w.Give(Published());
  w.Step();
  w.Store();
  w.Step();
  w.inbox.emplace_back(HintsAppended{w.appends.front().id, Status::Later("kafka", "timed out")});
  w.appends.clear();
  Follow(w, kOfRange0, false);
  Follow(w, kOfRange2);
  w.Step();
  w.Pass(std::chrono::seconds(10));
  w.RunUntilIdle();
  ASSERT_EQ(w.log.size(), 1u);
  EXPECT_EQ(RangesOf(w.log[0]), (std::vector<Range>{0, 3}));
}

TEST(EmptyRanges, ARedeliveredEventGoesWhereFollowersAreNow) {
  World w(LeavingOut());
  w.Assign();
  w.Give(Published());
  w.RunUntilIdle();
  EXPECT_TRUE(w.log.empty());
  Follow(w, kOfRange2);
  w.Give(Published());  // nobody knows that the first one was done
  w.RunUntilIdle();
  ASSERT_EQ(w.log.size(), 1u);
  EXPECT_EQ(RangesOf(w.log[0]), (std::vector<Range>{2}));
}

TEST(Dispatcher, CommitsTheContiguousPrefixOnly) {
  World w;
  w.Assign();
  w.Give(Published(PostId{1}, AuthorOn(0)));
  w.Give(Published(PostId{2}, AuthorOn(1)));
  w.Step();
  ASSERT_EQ(w.transactions.size(), 2u);
  const auto first = std::move(w.transactions.front());  // shard 0 does not answer
  w.transactions.erase(w.transactions.begin());
  w.RunUntilIdle();
  w.RunUntilIdle();  // the hints have waited for the other transaction
  EXPECT_EQ(w.log.size(), 1u);
  EXPECT_LE(w.committed, 0);

  w.inbox.emplace_back(w.mysql.Do(first));
  w.RunUntilIdle();
  EXPECT_EQ(w.committed, 2);
}

TEST(Dispatcher, AppendsTogetherWhatWasStoredOnSeveralShards) {
  World w;
  w.Assign();
  w.Give(Published(PostId{1}, AuthorOn(0)));
  w.Give(Published(PostId{2}, AuthorOn(1)));
  w.Step();
  ASSERT_EQ(w.transactions.size(), 2u);
  w.inbox.emplace_back(w.mysql.Do(w.transactions[1]));
  w.Step();
  EXPECT_TRUE(w.appends.empty()) << "the other shard may answer any moment";
  w.inbox.emplace_back(w.mysql.Do(w.transactions[0]));
  w.Step();
  EXPECT_EQ(w.appends.size(), 2u);
}

TEST(Dispatcher, HintsWaitForAShardThatDoesNotAnswerNoLongerThanTheyGather) {
  const Limits limits;
  World w(limits);
  w.Assign();
  w.Give(Published(PostId{1}, AuthorOn(0)));
  w.Give(Published(PostId{2}, AuthorOn(1)));
  w.Step();
  ASSERT_EQ(w.transactions.size(), 2u);
  w.inbox.emplace_back(w.mysql.Do(w.transactions[1]));
  w.Step();
  ASSERT_TRUE(w.appends.empty());
  ASSERT_TRUE(w.next_timer.has_value()) << "or it sleeps until the shard answers";
  EXPECT_LE(*w.next_timer, w.now.mono + limits.gather);
  w.Pass(limits.gather);
  w.Step();
  EXPECT_EQ(w.appends.size(), 1u);
}

TEST(Dispatcher, AppendsHintsAgainForAnEventThatChangesNothing) {
  World w;
  w.Assign();
  w.Give(Published());
  w.Give(Published());  // delivered twice: the first may have crashed before its hints
  w.RunUntilIdle();
  EXPECT_EQ(w.log.size(), 2u);
}

TEST(Dispatcher, AppendsAgainWhatMayNotHaveBeenAppended) {
  World w;
  w.Assign();
  w.Give(Published());
  w.Step();
  w.Store();
  w.Step();
  w.inbox.emplace_back(HintsAppended{w.appends.front().id, Status::Later("kafka", "timed out")});
  w.appends.clear();
  w.Step();
  EXPECT_TRUE(w.appends.empty()) << "without any back-off";
  w.Pass(std::chrono::seconds(10));
  w.RunUntilIdle();
  EXPECT_EQ(w.log.size(), 1u);
  EXPECT_EQ(w.committed, 1);
}

TEST(Dispatcher, KeepsWhatItCannotReadWithTheReason) {
  World w;
  w.Assign();
  w.GiveBytes("{\"schema_version\":1,\"type\":\"post.published\",\"post_id\":\"0\"}");
  w.RunUntilIdle();
  ASSERT_EQ(w.letters.size(), 1u);
  EXPECT_NE(w.letters[0].reason.find("post_id"), std::string::npos) << w.letters[0].reason;
  EXPECT_EQ(w.letters[0].stage, "dispatcher");
  EXPECT_EQ(w.committed, 1);
}

TEST(Dispatcher, WritesALetterAgainThatMayNotHaveBeenWritten) {
  World w;
  w.Assign();
  w.GiveBytes("{}");
  w.Step();
  ASSERT_EQ(w.dead_letters.size(), 1u);
  w.inbox.emplace_back(
      DeadLetterAppended{w.dead_letters.front().id, Status::Later("kafka", "away")});
  w.dead_letters.clear();
  w.Step();
  w.Pass(std::chrono::seconds(10));
  w.Step();
  EXPECT_LE(w.committed, 0);
  w.RunUntilIdle();
  EXPECT_EQ(w.letters.size(), 1u);
  EXPECT_EQ(w.committed, 1);
}

TEST(Dispatcher, RefusesARecordOlderThanRowsAreKept) {
  World w;
  w.Assign();
  w.Give(Published());
  w.now.unix_ms += std::chrono::milliseconds(std::chrono::hours(24 * 15)).count();
  w.RunUntilIdle();
  ASSERT_EQ(w.letters.size(), 1u);
  EXPECT_TRUE(w.stored.empty()) << "it was inserted";
}

TEST(Dispatcher, AReplayMakesARecordNoYounger) {
  World w;
  w.Assign();
  const UnixMs first = w.now.unix_ms;
  w.now.unix_ms += std::chrono::milliseconds(std::chrono::hours(24 * 15)).count();
  w.Give(Published(), {{"fanline-first-appended", std::to_string(first)}});
  w.RunUntilIdle();
  ASSERT_EQ(w.letters.size(), 1u);
  EXPECT_TRUE(w.stored.empty()) << "it was inserted";
}

TEST(Dispatcher, RefusesAPostFromTheFuture) {
  World w;
  w.Assign();
  FeedEvent event = Published();
  event.created_at = w.now.unix_ms * 1'000;  // microseconds
  w.Give(event);
  w.RunUntilIdle();
  ASSERT_EQ(w.letters.size(), 1u);
  EXPECT_NE(w.letters[0].reason.find("future"), std::string::npos);
}

TEST(Dispatcher, AShardThatIsAwayHoldsUpItsOwnEventsOnly) {
  World w;
  w.Assign();
  w.Give(Published(PostId{1}, AuthorOn(0)));
  w.Give(Published(PostId{2}, AuthorOn(1)));
  w.Step();
  ASSERT_EQ(w.transactions.size(), 2u);
  w.inbox.emplace_back(
      EventsApplied{w.transactions[0].id, Status::Later("mysql_0", "refused"), {}});
  w.transactions.erase(w.transactions.begin());
  w.Store();
  w.Step();
  EXPECT_EQ(w.appends.size(), 1u);
  EXPECT_TRUE(w.transactions.empty()) << "asked again without back-off";

  w.Pass(std::chrono::seconds(10));
  w.RunUntilIdle();
  EXPECT_EQ(w.log.size(), 2u);
  EXPECT_EQ(w.committed, 2);
}

TEST(Dispatcher, FindsTheOneEventThatCannotBeStored) {
  World w;
  w.Assign();
  const PostId bad{5};
  for (uint64_t post = 1; post <= 9; ++post) w.Give(Published(PostId{post}));
  for (int turn = 0; turn < 50; ++turn) {
    w.Step();
    for (const auto& request : std::exchange(w.transactions, {})) {
      const bool has_bad = std::any_of(request.events.begin(), request.events.end(),
                                       [&](const auto& event) { return event.post == bad; });
      w.inbox.emplace_back(
          has_bad ? EventsApplied{request.id, Status::Never("the column refuses it"), {}}
                  : w.mysql.Do(request));
    }
    w.Acknowledge();
  }
  w.RunUntilIdle();
  ASSERT_EQ(w.letters.size(), 1u);
  EXPECT_EQ(w.letters[0].record.offset, 4);
  EXPECT_EQ(w.log.size(), 8u);
  EXPECT_EQ(w.committed, 9);
}

TEST(Dispatcher, LetsHeadersTravelOnButNotTheEventsEncoding) {
  World w;
  w.Assign();
  w.Give(Published(), {{"traceparent", "00-ab-cd-01"}, {"content-type", "application/json"}});
  w.RunUntilIdle();
  ASSERT_EQ(w.log.size(), 1u);
  EXPECT_EQ(w.log[0].headers, (Headers{{"traceparent", "00-ab-cd-01"}}));
}

constexpr const char* kTraceId = "4bf92f3577b34da6a3ce929d0e0e4736";

Headers Traced() {
  return {{"traceparent", std::string("00-") + kTraceId + "-00f067aa0ba902b7-01"}};
}

TEST(Dispatcher, TellsOfSampledEventsThatBelongToATrace) {
  Limits limits;
  limits.sample_rate = 1;
  World w(limits);
  w.Assign();
  w.Give(Published(PostId{1}), Traced());
  w.Give(Published(PostId{2}));
  w.RunUntilIdle();
  ASSERT_EQ(w.metrics.traced.size(), 1u);
  EXPECT_EQ(w.metrics.traced[0], std::pair(PostId{1}, std::string(kTraceId)));
}

TEST(Dispatcher, SaysNothingOfATraceThatIsNotSampled) {
  Limits limits;
  limits.sample_rate = 0;
  World w(limits);
  w.Assign();
  w.Give(Published(PostId{1}), Traced());
  w.RunUntilIdle();
  EXPECT_TRUE(w.metrics.traced.empty());
}

TEST(Dispatcher, NamesTheTraceOfWhatItRejects) {
  Limits limits;
  limits.sample_rate = 1;
  World w(limits);
  w.Assign();
  w.GiveBytes("no event", Traced());
  w.RunUntilIdle();
  ASSERT_EQ(w.letters.size(), 1u);
  EXPECT_EQ(w.metrics.rejected, std::vector<std::string>{kTraceId});
  EXPECT_TRUE(w.metrics.traced.empty());
}

TEST(Dispatcher, SamplesTheSamePostsAgainWhenTheyAreRedelivered) {
  Limits limits;
  limits.sample_rate = 0.5;
  const auto sampled = [&] {
    World w(limits);
    w.Assign();
    for (uint64_t post = 1; post <= 200; ++post) w.Give(Published(PostId{post}));
    w.RunUntilIdle();
    std::vector<uint64_t> posts;
    for (const auto& append : w.log) {
      const auto& post = std::get<Hint::Post>(append.hints[0].second.what);
      if (post.sample) posts.push_back(Raw(post.post));
    }
    return posts;
  };
  const auto once = sampled();
  EXPECT_EQ(once, sampled());
  EXPECT_GT(once.size(), 60u);
  EXPECT_LT(once.size(), 140u);
}

TEST(Dispatcher, PausesWhileTooMuchIsUnderWay) {
  Limits limits;
  limits.events_open = 4;
  World w(limits);
  w.Assign();
  for (uint64_t post = 1; post <= 3; ++post) w.Give(Published(PostId{post}, AuthorOn(0)));
  w.Give(Published(PostId{4}, AuthorOn(1)));
  w.Step();
  EXPECT_EQ(w.paused, 0u) << "one of them is beyond its shard's share";
  w.Give(Published(PostId{5}, AuthorOn(1)));
  w.Step();
  EXPECT_EQ(w.paused, 1u);
  w.RunUntilIdle();
  EXPECT_EQ(w.resumed, 1u);
}

TEST(Dispatcher, PausesWhenTheSpanOfAPartitionReachesItsBound) {
  Limits limits;
  limits.events_span_per_partition = 4;
  World w(limits);
  w.Assign();
  for (uint64_t post = 1; post <= 3; ++post) w.Give(Published(PostId{post}));
  w.Step();
  EXPECT_EQ(w.paused, 0u);
  w.Give(Published(PostId{4}));
  w.Step();
  EXPECT_EQ(w.paused, 1u);
  w.RunUntilIdle();
  EXPECT_EQ(w.resumed, 1u);
}

// The partition flows from its seek on, whatever was ordered before.
TEST(Dispatcher, APartitionThatIsAssignedAgainStartsAnew) {
  Limits limits;
  limits.events_span_per_partition = 2;
  World w(limits);
  w.Assign();
  for (uint64_t post = 1; post <= 2; ++post) w.Give(Published(PostId{post}));
  w.Step();
  ASSERT_EQ(w.paused, 1u);
  w.Assign();
  EXPECT_EQ(w.resumed, 0u) << "the seek did that";
  w.next_offset = 0;
  for (uint64_t post = 1; post <= 2; ++post) w.Give(Published(PostId{post}));
  w.Step();
  EXPECT_EQ(w.paused, 2u);
}

// Answers every transaction that waits: those of shard `away` fail, the others are stored.
void Lose(World& w, Shard away) {
  for (auto& request : std::exchange(w.transactions, {})) {
    if (request.shard == away) {
      w.inbox.emplace_back(EventsApplied{request.id, Status::Later("mysql_0", "away"), {}});
    } else {
      w.inbox.emplace_back(w.mysql.Do(request));
    }
  }
}

TEST(Dispatcher, AShardThatIsAwayForLongDoesNotStopTheOthersAndLosesNothing) {
  Limits limits;
  limits.events_open = 16;
  World w(limits);
  w.Assign();
  const UserId away = AuthorOn(0), healthy = AuthorOn(1);
  for (uint64_t i = 0; i < 200; ++i) {
    w.Give(Published(PostId{1'000 + i}, away));
    w.Give(Published(PostId{5'000 + i}, healthy));
    for (int turn = 0; turn < 3; ++turn) {
      w.Step();
      Lose(w, 0);
      w.Acknowledge();
    }
    w.Step();
    ASSERT_EQ(w.log.size(), i + 1) << "of the healthy shard";
    w.Pass(std::chrono::milliseconds(100));
  }
  EXPECT_EQ(w.paused, w.resumed);
  EXPECT_LE(w.committed, 0) << "the first event is not stored";

  w.Pass(std::chrono::seconds(10));
  w.RunUntilIdle();
  EXPECT_EQ(w.log.size(), 400u);
  EXPECT_EQ(w.committed, 400);
}

// Its transactions are not even answered that it is away.
TEST(Dispatcher, AShardThatHangsDoesNotStopTheOthers) {
  Limits limits;
  limits.events_open = 16;
  World w(limits);
  w.Assign();
  std::vector<ApplyEvents> hanging;
  for (uint64_t i = 0; i < 200; ++i) {
    w.Give(Published(PostId{1'000 + i}, AuthorOn(0)));
    w.Give(Published(PostId{5'000 + i}, AuthorOn(1)));
    for (int turn = 0; turn < 2; ++turn) {
      w.Step();
      std::erase_if(w.transactions, [&](ApplyEvents& request) {
        if (request.shard == 0) hanging.push_back(request);
        return request.shard == 0;
      });
      w.Store();
      w.Acknowledge();
    }
    w.Pass(std::chrono::milliseconds(100));
    w.Step();
    w.Acknowledge();
    w.Step();
    ASSERT_EQ(w.log.size(), i + 1) << "of the healthy shard";
  }
  EXPECT_EQ(w.paused, 0u);
  EXPECT_EQ(hanging.size(), limits.transactions_in_flight);

  w.transactions = std::move(hanging);
  w.RunUntilIdle();
  EXPECT_EQ(w.log.size(), 400u);
  EXPECT_EQ(w.committed, 400);
}

TEST(Dispatcher, AShardIsGivenMoreWhileAllOthersHang) {
  Limits limits;
  limits.events_open = 30;
  World w(limits, kRanges, 3);
  w.Assign();
  for (uint64_t i = 0; i < 10; ++i) {
    for (const Shard shard : {0, 1, 2}) w.Give(Published(PostId{i + 1}, AuthorOn(shard, 3)));
  }
  w.Step();
  EXPECT_EQ(w.paused, 1u) << "each has its share of ten";
  std::erase_if(w.transactions, [](const ApplyEvents& request) { return request.shard != 2; });
  w.RunUntilIdle();
  w.RunUntilIdle();  // the hints have waited for the other transactions
  EXPECT_EQ(w.log.size(), 10u);
  EXPECT_EQ(w.resumed, 1u);
}

// They have no shard, and a bound of their own.
TEST(Dispatcher, PausesWhileTooManyLettersAreUnderWay) {
  Limits limits;
  limits.events_open = 4;
  World w(limits);
  w.Assign();
  for (int i = 0; i < 3; ++i) w.GiveBytes("no event");
  w.Give(Published());
  w.Step();
  EXPECT_EQ(w.paused, 0u);
  w.GiveBytes("no event");
  w.Step();
  EXPECT_EQ(w.paused, 1u);
  w.RunUntilIdle();
  EXPECT_EQ(w.resumed, 1u);
  EXPECT_EQ(w.letters.size(), 4u);
}

TEST(Dispatcher, WhatIsParkedIsBounded) {
  Limits limits;
  limits.events_open = 16;
  limits.parked_bytes_per_shard = 20'000;  // some thirty events
  World w(limits);
  w.Assign();
  for (uint64_t i = 0; i < 100 && w.paused == 0; ++i) {
    w.Give(Published(PostId{1'000 + i}, AuthorOn(0)));
    w.Step();
    Lose(w, 0);
    w.Step();
  }
  EXPECT_EQ(w.paused, 1u);
  EXPECT_GT(w.dispatcher.events_open(), 16u);
  EXPECT_LT(w.dispatcher.events_open(), 50u);

  w.Pass(std::chrono::seconds(10));
  w.RunUntilIdle();
  EXPECT_EQ(w.resumed, 1u);
  EXPECT_EQ(w.committed, w.next_offset);
}

TEST(Dispatcher, WhatIsParkedIsBoundedWhateverHeadersAnEventHas) {
  Limits limits;
  limits.parked_bytes_per_shard = 20'000;
  World w(limits);
  w.Assign();
  for (uint64_t i = 0; i < 30 && w.paused == 0; ++i) {
    w.Give(Published(PostId{1'000 + i}, AuthorOn(0)), {{"baggage", std::string(6'000, 'b')}});
    w.Step();
    Lose(w, 0);
    w.Step();
  }
  EXPECT_EQ(w.paused, 1u);
  EXPECT_LT(w.dispatcher.events_open(), 5u);

  w.Pass(std::chrono::seconds(10));
  w.RunUntilIdle();
  EXPECT_EQ(w.resumed, 1u);
  EXPECT_EQ(w.committed, w.next_offset);
}

// No parked event can be committed, so each owner reads all of them again, this one too.
TEST(Dispatcher, WhatIsParkedIsHeldOnceHoweverOftenItsPartitionMoves) {
  constexpr uint64_t kParked = 30;
  Limits limits;
  limits.events_open = 16;
  limits.parked_bytes_per_shard = 60'000;  // three times what is parked
  World w(limits);
  w.Assign();
  const auto park = [&] {
    w.next_offset = 0;
    for (uint64_t i = 0; i < kParked; ++i) {
      w.Give(Published(PostId{1'000 + i}, AuthorOn(0)));
      for (int turn = 0; turn < 3; ++turn) {
        w.Step();
        Lose(w, 0);
      }
    }
    w.Step();
  };
  for (int moves = 0; moves < 8; ++moves) {
    park();
    ASSERT_EQ(w.dispatcher.events_open(), kParked) << "after " << moves;
    if (moves % 2 == 0) w.inbox.emplace_back(PartitionRevoked{0});
    w.Assign();
    EXPECT_TRUE(w.dispatcher.drained()) << "its next owner's to do";
  }
  EXPECT_EQ(w.paused, 0u);

  park();
  w.Pass(std::chrono::seconds(10));
  w.RunUntilIdle();
  EXPECT_EQ(w.log.size(), kParked);
  EXPECT_EQ(w.committed, static_cast<int64_t>(kParked));
}

TEST(Dispatcher, WhatIsParkedOfAPartitionThatStaysIsKept) {
  World w;
  w.Assign(0);
  w.Assign(1);
  w.Give(Published(kPost, AuthorOn(0)));
  w.next_offset = 0;
  w.Give(Published(PostId{78}, AuthorOn(0)));
  std::get<Record>(w.inbox.back()).partition = 1;
  w.Step();
  Lose(w, 0);
  w.inbox.emplace_back(PartitionRevoked{0});
  w.Step();
  EXPECT_EQ(w.dispatcher.events_open(), 1u);
  w.Pass(std::chrono::seconds(10));
  w.RunUntilIdle();
  ASSERT_EQ(w.log.size(), 1u);
  EXPECT_EQ(std::get<Hint::Post>(w.log[0].hints[0].second.what).post, PostId{78});
  EXPECT_EQ(w.committed, 1);
}

TEST(Dispatcher, WhatIsUnderWayWhenItsPartitionGoesIsStoredAndHintedButNotParked) {
  for (const bool away : {false, true}) {
    World w;
    w.Assign();
    w.Give(Published(kPost, AuthorOn(0)));
    w.Step();
    w.inbox.emplace_back(PartitionRevoked{0});
    w.Step();
    EXPECT_EQ(w.dispatcher.events_open(), 1u);
    if (away) Lose(w, 0);
    w.Store();
    w.Step();
    EXPECT_EQ(w.appends.size(), away ? 0u : 1u);
    EXPECT_EQ(w.dispatcher.drained(), away);
  }
}

TEST(Dispatcher, DoesNotCommitForAPartitionItLost) {
  World w;
  w.Assign();
  w.Give(Published());
  w.Step();
  w.inbox.emplace_back(PartitionRevoked{0});
  w.Step();
  w.RunUntilIdle();
  EXPECT_LE(w.committed, 0);
  EXPECT_TRUE(w.dispatcher.drained());
}

TEST(Dispatcher, WorkOfAnEarlierAssignmentFinishesNothingOfThisOne) {
  World w;
  w.Assign();
  w.Give(Published());
  w.Step();
  w.Store();
  w.Step();
  ASSERT_EQ(w.appends.size(), 1u);
  const uint64_t earlier = w.appends.front().id;
  w.appends.clear();
  w.inbox.emplace_back(PartitionRevoked{0});
  w.Assign();
  w.next_offset = 0;
  w.Give(Published());
  w.inbox.emplace_back(HintsAppended{earlier, {}});
  w.Step();
  w.Pass(std::chrono::seconds(1));
  w.Step();
  EXPECT_LE(w.committed, 0);
  w.RunUntilIdle();
  EXPECT_EQ(w.committed, 1);
}

TEST(Dispatcher, TakesNothingThatWasReadInFrontOfItsSeek) {
  World w;
  w.inbox.emplace_back(PartitionAssigned{0, 3, 0, 1'000'000});
  w.next_offset = 7;
  w.Give(Published());
  w.Step();
  EXPECT_TRUE(w.transactions.empty());
  w.next_offset = 3;
  w.Give(Published());
  w.RunUntilIdle();
  EXPECT_EQ(w.committed, 4);
}

TEST(Dispatcher, DrainsWhatItStarted) {
  World w;
  w.Assign();
  w.Give(Published());
  w.Step();
  w.dispatcher.StopTaking();
  w.Give(Published(PostId{78}));
  EXPECT_FALSE(w.dispatcher.drained());
  w.RunUntilIdle();
  EXPECT_TRUE(w.dispatcher.drained());
  EXPECT_EQ(w.committed, 1);
}

}  // namespace
}  // namespace fanline::dispatcher
