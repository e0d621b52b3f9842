#include "reconciler/reposts/repost_sweeper.h"

#include <gmock/gmock.h>

#include "tests/fakes/requests.h"

namespace fanline::reconciler {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr UnixMs kTime = 1'700'000'000'000;

struct ToldOfReposts : RepostMetrics {
  uint64_t rows = 0, deleted = 0;
  UnixMs since = 0;
  std::vector<std::string> parked;
  void RepostsPassed(uint64_t passed) override { rows += passed; }
  void RepostDeleted() override { ++deleted; }
  void RepostsSweptSince(UnixMs at) override { since = at; }
  void Parked(const std::string& resource) override { parked.push_back(resource); }
};

struct RepostsAsked : ServesAll<RepostsAsked, SweepReposts, ReadOriginals, AppendEvent> {
  std::vector<SweepReposts> pages;
  std::vector<ReadOriginals> originals;
  std::vector<AppendEvent> events;
  void Serve(SweepReposts request, ReplyTo<RepostsSwept>) { pages.push_back(request); }
  void Serve(ReadOriginals request, ReplyTo<OriginalsRead>) {
    originals.push_back(std::move(request));
  }
  void Serve(AppendEvent request, ReplyTo<EventAppended>) { events.push_back(std::move(request)); }
};

// The only element, taken out.
template <class Request>
Request TheOnly(std::vector<Request>& requests) {
  EXPECT_THAT(requests, SizeIs(1));
  Request request = requests.empty() ? Request{} : requests.front();
  requests.clear();
  return request;
}

class RepostSweeperTest : public ::testing::Test {
 protected:
  RepostSweeperTest() { sweeper_.Own({0}); }  // shard 0 alone

  void Step(std::vector<RepostInput> inputs = {}) {
    next_ = sweeper_.Step(inputs, {now_, kTime}).next_timer;
  }
  void Pass(Duration time) {
    now_ += time;
    Step();
  }
  UserId On(Shard shard, uint64_t nth = 1) const {
    for (uint64_t id = 1;; ++id) {
      if (map_.ShardOf(UserId{id}) == shard && --nth == 0) return UserId{id};
    }
  }
  // The nth repost of the page, by a user of shard 0.
  RepostsSwept::Repost Of(const Original& original, uint64_t nth) const {
    return {{On(0, nth), PostId{1'000 + nth}}, original};
  }
  static PostState State(bool deleted, bool hidden = false) {
    PostState state;
    state.created_at = kTime;
    state.deleted = deleted;
    state.hidden = hidden;
    return state;
  }
  static OriginalsRead States(const ReadOriginals& asked, const PostState& state) {
    OriginalsRead read{asked.id, asked.shard, {}, {}};
    read.states.assign(asked.originals.size(), state);
    return read;
  }
  static RepostsSwept Page(uint64_t id, std::vector<RepostsSwept::Repost> reposts,
                           bool over = false, uint64_t rows = 2'000) {
    return {.id = id,
            .status = {},
            .reposts = std::move(reposts),
            .last = {PostId{9}, UserId{9}, PostId{9}},
            .rows = rows,
            .over = over};
  }
  // Has the first page read with these reposts of one original of shard 1, in that state.
  void FirstPage(const std::vector<RepostsSwept::Repost>& reposts, const PostState& state,
                 bool over = false) {
    Step();
    Step({Page(TheOnly(store_.pages).id, reposts, over)});
    Step({States(TheOnly(store_.originals), state)});
  }
  // The page is read once more, with these.
  void Again(const std::vector<RepostsSwept::Repost>& reposts, bool over = false) {
    Step({Page(TheOnly(store_.pages).id, reposts, over)});
    for (const ReadOriginals& asked : std::exchange(store_.originals, {})) {
      Step({States(asked, State(true))});
    }
  }
  void AnswerEvents(const Status& status = Status::Done()) {
    for (const AppendEvent& event : std::exchange(store_.events, {})) {
      Step({EventAppended{event.id, status}});
    }
  }
  std::vector<PostId> Posts() const {
    std::vector<PostId> posts;
    for (const AppendEvent& event : store_.events) posts.push_back(event.event.post);
    return posts;
  }

  const ShardMap map_ = ShardMap::Even(2);
  const Original original_{PostId{5}, On(1)};
  RepostsAsked store_;
  ToldOfReposts told_;
  ReconcilerMode mode_ = ReconcilerMode::kRun;
  RepostSweeper sweeper_{
      {store_, fakes::nobody}, {store_, fakes::nobody}, told_, [this] { return mode_; }, map_, 2};
  Time now_{1h};
  std::optional<Time> next_;
};

TEST_F(RepostSweeperTest, RepostsOfADeletedPostAreDeletedByOrdinaryEvents) {
  Step();
  const SweepReposts first = TheOnly(store_.pages);
  EXPECT_EQ(first.shard, 0u);
  EXPECT_EQ(first.after, RepostPlace{});
  const Original seen{PostId{6}, On(0)};
  Step({Page(first.id, {Of(original_, 1), Of(seen, 2), Of(original_, 3)})});
  ASSERT_THAT(store_.originals, SizeIs(2)) << "each shard once";
  const auto asked = std::exchange(store_.originals, {});
  EXPECT_EQ(asked[0].shard, 0u);
  EXPECT_THAT(asked[0].originals, ElementsAre(seen));
  EXPECT_EQ(asked[1].shard, 1u);
  EXPECT_THAT(asked[1].originals, ElementsAre(original_)) << "an original is asked for once";
  Step({States(asked[1], State(true))});
  EXPECT_THAT(store_.events, IsEmpty()) << "the other shard has not answered";
  Step({States(asked[0], State(false))});
  ASSERT_THAT(store_.events, SizeIs(2));
  EXPECT_EQ(store_.events[0].event,
            (FeedEvent{.kind = EventKind::kDeleted, .post = PostId{1'001}, .author = On(0, 1)}));
  EXPECT_EQ(store_.events[1].event,
            (FeedEvent{.kind = EventKind::kDeleted, .post = PostId{1'003}, .author = On(0, 3)}));
  AnswerEvents();
  EXPECT_EQ(told_.deleted, 2u);
}

TEST_F(RepostSweeperTest, WhatMayBeSeenAgainStays) {
  PostState unknown, repost = State(true);
  unknown.deleted = true;  // its publish may still come, and say that it is a repost
  unknown.created_at = {};
  repost.original = {PostId{4}, On(0)};  // what names it shows this one
  for (const PostState& state : {State(false), State(false, true), PostState(), unknown, repost}) {
    FirstPage({Of(original_, 1)}, state, true);
    EXPECT_THAT(store_.events, IsEmpty());
    Pass(10min);
  }
}

TEST_F(RepostSweeperTest, APageIsLeftWhenItsEventsHaveTakenEffect) {
  FirstPage({Of(original_, 1), Of(original_, 2)}, State(true));
  EXPECT_THAT(Posts(), ElementsAre(PostId{1'001}, PostId{1'002}));
  const auto events = std::exchange(store_.events, {});
  Step({EventAppended{events[0].id, {}}});
  Pass(1s);
  EXPECT_THAT(store_.pages, IsEmpty()) << "one event is not acknowledged";
  Step({EventAppended{events[1].id, {}}});
  Pass(99ms);
  EXPECT_THAT(store_.pages, IsEmpty());
  Pass(1ms);
  EXPECT_EQ(store_.pages.at(0).after, RepostPlace{}) << "once more";
  Again({Of(original_, 2), Of(original_, 3)});
  EXPECT_THAT(Posts(), ElementsAre(PostId{1'003})) << "no event comes twice";
  AnswerEvents();
  Pass(100ms);
  Again({});
  EXPECT_EQ(told_.rows, 2'000u) << "rows are passed once";
  Pass(2s);
  EXPECT_EQ(TheOnly(store_.pages).after, (RepostPlace{PostId{9}, UserId{9}, PostId{9}}));
}

TEST_F(RepostSweeperTest, ADispatcherThatLagsIsAskedAfterEverLongerAndLeftAfterTheTimeGiven) {
  FirstPage({Of(original_, 1)}, State(true));
  AnswerEvents();
  const Time told_at = now_;
  int looks = 0;
  for (; now_ < told_at + 2min && told_.rows == 0; ++looks) {
    now_ = *next_;
    Step();
    Again({Of(original_, 1)});
    EXPECT_THAT(store_.events, IsEmpty());
  }
  EXPECT_GE(now_, told_at + 1min);
  EXPECT_LE(now_, told_at + 2min);
  EXPECT_LT(looks, 12);
  Step();
  EXPECT_NE(TheOnly(store_.pages).after, RepostPlace{}) << "the walk goes on";
}

TEST_F(RepostSweeperTest, EventsKeepToTheirPaceAndShardsTakeTurns) {
  sweeper_.Own({0, 1});
  Step();
  ASSERT_THAT(store_.pages, SizeIs(2));
  const auto pages = std::exchange(store_.pages, {});
  for (const SweepReposts& page : pages) {
    std::vector<RepostsSwept::Repost> reposts;
    for (uint64_t i = 1; i <= 1'000; ++i) {
      reposts.push_back({{On(page.shard), PostId{page.shard * 10'000 + i}}, original_});
    }
    Step({Page(page.id, reposts)});
    Step({States(TheOnly(store_.originals), State(true))});
    Step();
  }
  const size_t burst = RepostLimits().events_burst;
  EXPECT_THAT(store_.events, SizeIs(burst));
  store_.events.clear();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(next_, now_ + 20ms);
    Pass(20ms);
  }
  EXPECT_THAT(store_.events, SizeIs(420)) << "2,100 a second";
  size_t of_0 = 0;
  for (const AppendEvent& each : store_.events) of_0 += each.event.author == On(0) ? 1 : 0;
  EXPECT_EQ(of_0, 210u);
}

TEST_F(RepostSweeperTest, AnEventThatWasNotAppendedIsAppendedLater) {
  std::vector<RepostsSwept::Repost> reposts;
  for (uint64_t i = 1; i <= 200; ++i) reposts.push_back({{On(0), PostId{i}}, original_});
  FirstPage(reposts, State(true));
  const auto events = std::exchange(store_.events, {});
  ASSERT_THAT(events, SizeIs(100));
  Step({EventAppended{events[0].id, Status::Later("kafka", "away")}});
  EXPECT_THAT(told_.parked, ElementsAre("kafka"));
  Pass(1s);
  EXPECT_THAT(store_.events, IsEmpty()) << "the others of the page wait, too";
  for (size_t i = 1; i < events.size(); ++i) Step({EventAppended{events[i].id, {}}});
  Pass(29s);
  EXPECT_THAT(store_.pages, IsEmpty());
  Pass(1s);
  Again({reposts[0], reposts[150]});
  EXPECT_THAT(Posts(), UnorderedElementsAre(PostId{1}, PostId{151}));
  EXPECT_EQ(told_.deleted, 99u);
  AnswerEvents();
  Pass(100ms);
  EXPECT_THAT(store_.pages, SizeIs(1)) << "and all is well again";
}

TEST_F(RepostSweeperTest, AShardThatIsAwayHoldsUpItsOwnWalkAlone) {
  sweeper_.Own({0, 1});
  Step();
  const auto pages = std::exchange(store_.pages, {});
  Step({RepostsSwept{.id = pages.at(1).id, .status = Status::Later("mysql_1", "away")}});
  // An original that lies there is left for the next walk; the others are not.
  const Original near{PostId{6}, On(0)};
  Step({Page(pages.at(0).id, {Of(original_, 1), Of(near, 2)})});
  const auto asked = std::exchange(store_.originals, {});
  Step({States(asked.at(0), State(true))});
  Step({FailureOf(asked.at(1), Status::Later("mysql_1", "away"))});
  EXPECT_THAT(Posts(), ElementsAre(PostId{1'002}));
  EXPECT_THAT(told_.parked, ElementsAre("mysql_1", "mysql_1"));
  AnswerEvents();
  Pass(100ms);
  Again({});
  Pass(2s);
  EXPECT_EQ(TheOnly(store_.pages).shard, 0u);
  Pass(28s);
  EXPECT_EQ(TheOnly(store_.pages).shard, 1u) << "from the place where it was";
}

TEST_F(RepostSweeperTest, PagesGoOnAtTheRateGiven) {
  Step();
  Step({Page(TheOnly(store_.pages).id, {}, false, 1'000)});
  Pass(499ms);
  EXPECT_THAT(store_.pages, IsEmpty());
  Pass(1ms);
  TheOnly(store_.pages);
}

TEST_F(RepostSweeperTest, AWalkBeginsAnewAfterARest) {
  Step();
  Step({Page(TheOnly(store_.pages).id, {})});
  Pass(1s);
  Step({Page(TheOnly(store_.pages).id, {}, true, 7)});
  EXPECT_EQ(told_.rows, 2'007u);
  EXPECT_EQ(told_.since, kTime);
  Pass(10min - 1s);
  EXPECT_THAT(store_.pages, IsEmpty());
  Pass(1s);
  EXPECT_EQ(store_.pages.at(0).after, RepostPlace{});
  // What was deleted a moment ago may have had more reposts under way.
  Again({Of(original_, 1)}, true);
  AnswerEvents();
  Pass(100ms);
  Again({}, true);
  Pass(1min);
  EXPECT_EQ(store_.pages.at(0).after, RepostPlace{});
  Again({}, true);
  Pass(1min);
  EXPECT_THAT(store_.pages, IsEmpty());
}

TEST_F(RepostSweeperTest, TheShardsOfAProcessAreSweptSinceTheLastOfThemIs) {
  sweeper_.Own({0, 1});
  Step();
  const auto pages = std::exchange(store_.pages, {});
  Step({Page(pages.at(0).id, {}, true)});
  EXPECT_EQ(told_.since, 0);
  Step({Page(pages.at(1).id, {}, true)});
  EXPECT_EQ(told_.since, kTime);
}

TEST_F(RepostSweeperTest, AShardOfAnotherProcessIsNotWalked) {
  Step();
  EXPECT_EQ(TheOnly(store_.pages).shard, 0u);
  sweeper_.Own({});
  Pass(1h);
  EXPECT_THAT(store_.pages, IsEmpty());
  sweeper_.Own({1});
  Step();
  EXPECT_EQ(TheOnly(store_.pages).shard, 1u);
}

TEST_F(RepostSweeperTest, InADryRunAndPausedNothingIsBegun) {
  for (const ReconcilerMode mode : {ReconcilerMode::kDryRun, ReconcilerMode::kPause}) {
    mode_ = mode;
    Step();
    EXPECT_THAT(store_.pages, IsEmpty());
    EXPECT_EQ(next_, now_ + 1s);
    Pass(1s);
  }
  mode_ = ReconcilerMode::kRun;
  Pass(1s);
  const uint64_t page = TheOnly(store_.pages).id;
  mode_ = ReconcilerMode::kPause;
  Step({Page(page, {Of(original_, 1)})});
  EXPECT_THAT(store_.originals, IsEmpty());
  mode_ = ReconcilerMode::kRun;
  Pass(1s);
  Step({Page(TheOnly(store_.pages).id, {Of(original_, 1)})});
  mode_ = ReconcilerMode::kPause;
  Step({States(TheOnly(store_.originals), State(true))});
  EXPECT_THAT(store_.events, IsEmpty());
  EXPECT_EQ(next_, now_ + 1s);
  mode_ = ReconcilerMode::kRun;
  Pass(1s);
  EXPECT_THAT(Posts(), ElementsAre(PostId{1'001}));
}

TEST_F(RepostSweeperTest, ItStopsOnceWhatIsUnderWayIsAnswered) {
  Step();
  sweeper_.StopTaking();
  EXPECT_FALSE(sweeper_.drained());
  Step({Page(TheOnly(store_.pages).id, {Of(original_, 1)})});
  EXPECT_TRUE(sweeper_.drained());
  EXPECT_THAT(store_.originals, IsEmpty());
}

TEST_F(RepostSweeperTest, ItStopsThoughEventsWait) {
  std::vector<RepostsSwept::Repost> reposts;
  for (uint64_t i = 1; i <= 200; ++i) reposts.push_back({{On(0), PostId{i}}, original_});
  FirstPage(reposts, State(true));
  sweeper_.StopTaking();
  EXPECT_FALSE(sweeper_.drained());
  AnswerEvents();
  EXPECT_TRUE(sweeper_.drained());
  EXPECT_THAT(store_.events, IsEmpty());
}

}  // namespace
}  // namespace fanline::reconciler
