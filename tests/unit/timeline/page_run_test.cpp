// Pages that are read by requests: which are under way together, and what becomes of shards that do
// not answer.
#include "timeline/page_run.h"

#include <gtest/gtest.h>

#include <functional>
#include <variant>

#include "tests/fakes/requests.h"
#include "tests/unit/timeline/world.h"

namespace fanline::timeline {
namespace {

const ShardMap kSixteen = ShardMap::Even(16);

// Bob follows fifty authors of two posts on sixteen shards, and is not live.
struct PulledWorld : World {
  PulledWorld() : World(false, kSixteen) {
    uint64_t post = 0;
    for (uint64_t author = 100; author < 150; ++author) {
      Follow(UserId{author});
      for (int i = 0; i < 2; ++i) {
        ++post;
        Publish(UserId{author}, post, 1'000 + static_cast<UnixMs>(post));
      }
    }
  }

  // Steps a page to its end. Counts how often replies are waited for.
  PageRun Run() {
    PageRun run(kBob, {.limit = 200}, std::nullopt, kSixteen, TruthReads::Answers::kPartly);
    run.OnLive(Ask(PortTo(*this), run.Begin()));
    PageRun::Requests requests = run.GoOn();
    for (rounds = 0; !run.done(); ++rounds) {
      if (on_round) on_round();
      using Reply = std::variant<FolloweesRead, LastAtRead, ItemsAnswered, ReadsConfirmed,
                                 MutesRead, LivePageRead, OriginalsRead, SourcesFound>;
      fakes::Inbox<Reply> replies;
      for (const auto& request : requests) {
        std::visit([&](const auto& each) { Submit(each, replies); }, request);
      }
      requests.clear();
      for (Reply& reply : replies) {
        auto next = std::visit([&](auto& each) { return run.On(std::move(each)); }, reply);
        EXPECT_TRUE(requests.empty() || next.empty()) << "they are made with the last reply";
        if (!next.empty()) requests = std::move(next);
      }
    }
    return run;
  }

  // The shard is away from that round on.
  void Lose(Shard shard, int round) {
    on_round = [this, shard, round] {
      if (rounds == round) away = {shard};
    };
  }

  int rounds = 0;
  std::function<void()> on_round;  // before its requests
};

TEST(PageRun, AsksAllShardsAtOnce) {
  PulledWorld w;
  PageRun run = w.Run();
  ASSERT_TRUE(run.status().done());
  const Page page = run.Take();
  EXPECT_EQ(page.items, w.Everything());
  EXPECT_FALSE(page.incomplete);
  EXPECT_EQ(w.rounds, 5) << "whom he follows, when these posted last, their posts in two spans, "
                            "the proof";
}

TEST(PageRun, LeavesOutAuthorsOfShardsThatDoNotAnswer) {
  PulledWorld w;
  const Shard own = kSixteen.ShardOf(kBob);
  w.away = {(own + 1) % 16, (own + 2) % 16};
  PageRun run = w.Run();
  ASSERT_TRUE(run.status().done());
  const Page page = run.Take();
  EXPECT_TRUE(page.incomplete);
  size_t there = 0;
  for (uint64_t author = 100; author < 150; ++author) {
    there += w.away.contains(kSixteen.ShardOf(UserId{author})) ? 0 : 2;
  }
  EXPECT_EQ(page.items.size(), there);
  EXPECT_LT(there, 100u);
}

// What it said of its authors' last posts needs no proof: no post rests on it.
TEST(PageRun, LeavesOutAShardThatStopsAnsweringBeforeItGaveAPost) {
  PulledWorld w;
  w.Lose((kSixteen.ShardOf(kBob) + 1) % 16, 2);
  PageRun run = w.Run();
  ASSERT_TRUE(run.status().done());
  EXPECT_TRUE(run.Take().incomplete);
  EXPECT_EQ(w.rounds, 5) << "it is not asked again";
}

// Posts that nobody proves are not shown.
TEST(PageRun, ReadsThePageAgainWithoutAShardThatDoesNotProveItsPosts) {
  PulledWorld w;
  const Shard other = (kSixteen.ShardOf(kBob) + 1) % 16;
  w.Lose(other, 4);
  PageRun run = w.Run();
  ASSERT_TRUE(run.status().done());
  const Page page = run.Take();
  EXPECT_TRUE(page.incomplete);
  std::vector<Item> proved;
  for (const Item& item : w.Everything()) {
    const UserId author{100 + (Raw(item.post) - 1) / 2};
    if (kSixteen.ShardOf(author) != other) proved.push_back(item);
  }
  EXPECT_LT(proved.size(), 100u);
  EXPECT_EQ(page.items, proved);
}

TEST(PageRun, FailsIfTheReadersShardDoesNotProveWhomTheReaderFollows) {
  PulledWorld w;
  w.Lose(kSixteen.ShardOf(kBob), 4);
  EXPECT_TRUE(w.Run().status().later());
  EXPECT_EQ(w.rounds, 5);
}

// It was late once, and proves what it gave.
TEST(PageRun, IsReadAgainThoughTheReadersShardLacksSomething) {
  const ShardMap two = ShardMap::Even(2);
  const auto user_on = [&](Shard shard, uint64_t id) {
    while (two.ShardOf(UserId{id}) != shard) ++id;
    return UserId{id};
  };
  const UserId reader = user_on(0, 1), near = user_on(0, 100), far = user_on(1, 100);
  PageRun run(reader, {.limit = 5}, std::nullopt, two, TruthReads::Answers::kPartly);
  run.OnLive({});
  run.GoOn();
  run.On(FolloweesRead{.shard = 0, .status = {}, .authors = {near, far}});
  run.On(LastAtRead{.shard = 0, .status = Status::Later("mysql_0", "late")});
  PageRun::Requests requests =
      run.On(LastAtRead{.shard = 1, .status = {}, .authors = {{far, 1'000, false, false}}});
  while (!requests.empty() && std::holds_alternative<ReadItems>(requests[0])) {
    requests = run.On(ItemsAnswered{.shard = 1, .status = {}});
  }
  ASSERT_EQ(requests.size(), 2u);
  run.On(ReadsConfirmed{.shard = 0, .status = {}});
  requests = run.On(ReadsConfirmed{.shard = 1, .status = Status::Later("mysql_1", "away")});
  EXPECT_FALSE(run.done());
  EXPECT_EQ(requests.size(), 1u) << "the reader's shard alone";
}

TEST(PageRun, FailsIfOneShardAfterTheOtherProvesNothing) {
  PulledWorld w;
  const Shard own = kSixteen.ShardOf(kBob);
  w.on_round = [&] {
    if (w.rounds == 4) w.away = {(own + 1) % 16};
    if (w.rounds == 9) w.away = {(own + 2) % 16};
  };
  EXPECT_TRUE(w.Run().status().later());
}

// A page of Bob's live timeline of one post. An author on another shard, who is merged at read, has
// another one.
struct MergingRun {
  explicit MergingRun(Floor floor) {
    while (kSixteen.ShardOf(other) == own) other = UserId{Raw(other) + 1};
    LivePageRead live;
    live.page.state = TimelineState::kReady;
    live.page.items = {{PostId{9}, 5'000}};
    live.page.floor = floor;
    live.page.reached_floor = true;
    live.page.marks.authors = {other};
    run.OnLive(std::move(live));
    requests = run.GoOn();
  }
  // The shard's answer to the request under way.
  void Answer(const Status& confirmed) {
    ASSERT_EQ(requests.size(), 1u);
    requests = std::visit(
        [&](const auto& each) {
          typename std::decay_t<decltype(each)>::Reply reply;
          if constexpr (requires { each.shard; }) reply.shard = each.shard;
          if constexpr (requires { reply.authors = {{other, 6'000, true}}; }) {
            reply.authors = {{other, 6'000, true}};
          } else if constexpr (requires { reply.read.items; }) {
            reply.read.items = {{PostId{8}, 6'000}};
          } else {
            reply.status = confirmed;
          }
          return run.On(std::move(reply));
        },
        requests.front());
  }

  const Shard own = kSixteen.ShardOf(kBob);
  UserId other{2};
  PageRun run{kBob, {.limit = 10}, std::nullopt, kSixteen, TruthReads::Answers::kPartly};
  PageRun::Requests requests;
};

TEST(PageRun, ALivePageIsServedWithoutWhatIsMergedIfNobodyProvesIt) {
  MergingRun w(kNoFloor);
  bool proof = false;
  while (!w.run.done()) {
    EXPECT_TRUE(w.run.merges());
    proof = std::holds_alternative<ConfirmReads>(w.requests.at(0));
    w.Answer(Status::Later("mysql", "away"));
  }
  EXPECT_TRUE(proof);
  ASSERT_TRUE(w.run.status().done());
  const Page page = w.run.Take();
  EXPECT_EQ(page.items, (std::vector<Item>{{PostId{9}, 5'000}}));
  EXPECT_TRUE(page.incomplete);
}

TEST(PageRun, FailsWithTheReadersShard) {
  PulledWorld w;
  w.away = {kSixteen.ShardOf(kBob)};
  EXPECT_TRUE(w.Run().status().later());
}

// Otherwise a page would end where the live timeline does, as if there were nothing behind it.
TEST(PageRun, FailsWithTheReadersShardBelowTheFloorWhateverWasMergedAboveIt) {
  MergingRun w(4'000);
  while (w.run.merges()) w.Answer({});
  ASSERT_EQ(w.requests.size(), 1u);
  ASSERT_TRUE(std::holds_alternative<ReadFollowees>(w.requests.front()));
  EXPECT_TRUE(
      w.run.On(FolloweesRead{.shard = w.own, .status = Status::Later("mysql", "away")}).empty());
  ASSERT_TRUE(w.run.done());
  EXPECT_TRUE(w.run.status().later());
}

TEST(PageRun, FailsIfAnotherServerAnswersThanBefore) {
  PulledWorld w;
  w.on_read = [&] { w.LoseConnections(); };
  EXPECT_TRUE(w.Run().status().later());
}

// Else nothing would be confirmed any more.
TEST(TruthReads, AReadThatFailsDiscardsThoseBeforeIt) {
  World w;
  std::vector<UserId> read;
  ASSERT_TRUE(w.Followees(kBob, &read).done());
  w.LoseConnections();
  EXPECT_TRUE(w.Followees(kBob, &read).later()) << "another server answers than before";
  EXPECT_TRUE(w.Followees(kBob, &read).done());
  EXPECT_TRUE(w.Confirm().done());
}

// One partial read goes on from where it ended; of the others the partial author is read anew.
TEST(PageRun, PutsPartialReadsOfManyShardsTogether) {
  World w(false, kSixteen);
  uint64_t post = 0;
  for (uint64_t author = 100; author < 104; ++author) {
    w.Follow(UserId{author});
    for (int i = 0; i < 300; ++i) w.Publish(UserId{author}, ++post, 1'000);
  }
  std::vector<Item> walked;
  PageQuery query{.limit = 7};
  do {
    const Page page = w.Home(query);
    walked.insert(walked.end(), page.items.begin(), page.items.end());
    query.older_than = page.next;
  } while (query.older_than && walked.size() < 2'000);
  EXPECT_EQ(walked, w.Everything());
}

}  // namespace
}  // namespace fanline::timeline
