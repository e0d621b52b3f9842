// Syncs of one author at the head of a lane are one unit: what that saves, and that each reader
// fares as if alone.
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/pusher/world.h"

namespace fanline::pusher {
namespace {

using Posts = std::vector<PostId>;
using std::chrono::seconds;

constexpr PostId kGone{78}, kBens{79};

struct SyncWorld : World {
  explicit SyncWorld(Limits limits = Limits{}) : World(limits) {
    AssignAll();
    Publish(kAnn, kPost, 2'000);
    Publish(kAnn, kGone, 1'000);
    Delete(kAnn, kGone);
    Publish(kBen, kBens, 1'500);
  }
  // Live, with a post of Ann's that is deleted and one of Ben's.
  UserId Reader(int nth) {
    const UserId reader = ReaderIn(0, nth);
    MakeLive(reader, {{kBens, 1'500, kBen}, {kGone, 1'000, kAnn}});
    return reader;
  }

  void GiveTwentyWhoFollow() {
    for (int i = 0; i < 20; ++i) {
      Follow(Reader(i), kAnn);
      Give(0, Hint::OfSync(ReaderIn(0, i), kAnn));
    }
  }

  template <typename Request>
  auto Do(const Request& request) {
    if constexpr (std::is_same_v<Request, ApplySync>) {
      ++syncs[request.reader];
      SyncApplied reply{.id = request.id};
      if (request.reader == poisoned) {
        reply.status = Status::Never("WRONGTYPE");
        return reply;
      }
      if (request.reader == slow && slow_for > 0) {
        --slow_for;
        reply.status = Status::Later("redis", "busy");
        return reply;
      }
      if (request.reader == fenced) {
        reply.status = Status::Later("fence", "somebody else's");
        reply.needs_claim = true;
        fenced = UserId{};
        return reply;
      }
    }
    return redis.Do(request);
  }
  // Answers all calls under way together: one round trip.
  void Answer() {
    auto reads = std::exchange(truth_calls, {});
    auto calls = std::exchange(timeline_calls, {});
    calls_made += reads.size() + calls.size();
    rounds += !reads.empty() || !calls.empty();
    for (const auto& read : reads) {
      std::visit([this](const auto& asked) { inbox.emplace_back(mysql.Do(asked)); }, read);
    }
    for (const auto& call : calls) {
      std::visit([this](const auto& asked) { inbox.emplace_back(Do(asked)); }, call);
    }
  }
  void Run() {
    do {
      Step();
      Answer();
    } while (!inbox.empty() || !news_calls.empty());
    Step();
  }

  UserId poisoned{}, slow{}, fenced{};
  int slow_for = 0;
  std::map<UserId, int> syncs;
  size_t rounds = 0, calls_made = 0;
};

TEST(SyncRun, OfTwoHundredReadersTakesSixRoundTripsAtMost) {
  SyncWorld w;
  std::vector<UserId> readers;
  for (int i = 0; i < 200; ++i) {
    readers.push_back(w.Reader(i));
    if (i % 2 == 0) w.Follow(readers.back(), kAnn);
    w.Give(0, Hint::OfSync(readers.back(), kAnn));
  }
  w.Run();
  EXPECT_EQ(w.metrics.done, 200);
  EXPECT_LE(w.rounds, 6u);
  EXPECT_LE(w.calls_made, 2u * 200u);
  for (int i = 0; i < 200; ++i) {
    const Posts expected = i % 2 == 0 ? Posts{kPost, kBens} : Posts{kBens};
    EXPECT_EQ(w.Items(readers[static_cast<size_t>(i)]), expected) << i;
  }
}

TEST(SyncRun, ALongerRunTakesThreeMoreRoundTripsForEachUnit) {
  SyncWorld w;
  for (int i = 0; i < 700; ++i) w.Give(0, Hint::OfSync(w.Reader(i), kAnn));
  w.Run();
  EXPECT_EQ(w.metrics.done, 700);
  EXPECT_LE(w.rounds, 3u * 3u);
}

TEST(SyncRun, OfOneReaderIsReadAndWrittenOnce) {
  SyncWorld w;
  const UserId bob = w.Reader(0);
  w.Follow(bob, kAnn);
  for (int i = 0; i < 5; ++i) w.Give(0, Hint::OfSync(bob, kAnn));
  w.Run();
  EXPECT_EQ(w.metrics.done, 5);
  EXPECT_EQ(w.syncs[bob], 1);
  EXPECT_EQ(w.Items(bob), (Posts{kPost, kBens}));
}

TEST(SyncRun, MarksAnAuthorWhoMayHavePostsMergedAtReadAndUnmarksWhoIsNotFollowed) {
  SyncWorld w;
  const UserId bob = w.Reader(0);
  w.mysql.SetMode(kAnn, true);
  w.Follow(bob, kAnn);
  w.Give(0, Hint::OfSync(bob, kAnn));
  w.Run();
  EXPECT_EQ(w.redis.timelines().at(bob).marks, std::set<Mark>{Mark{kAnn}});
  w.mysql.ApplyReverse(bob, kAnn, w.mysql.WriteForward(bob, kAnn, false), false);
  w.Give(0, Hint::OfSync(bob, kAnn));
  w.Run();
  EXPECT_TRUE(w.redis.timelines().at(bob).marks.empty());
}

TEST(SyncRun, EndsWhereAPostWaits) {
  SyncWorld w;
  const UserId bob = w.Reader(0), cid = w.Reader(1);
  w.Give(0, Hint::OfSync(bob, kAnn));
  w.Give(0, Hint::OfPost(kAnn, kPost));
  w.Give(0, Hint::OfSync(cid, kAnn));
  w.Step();  // asks for news
  w.Step();
  EXPECT_EQ(w.truth_calls.size(), 1u);
  EXPECT_TRUE(w.timeline_calls.empty());
  w.Run();
  EXPECT_EQ(w.metrics.done, 3);
}

TEST(SyncRun, TreatsEachTimelineByItsOwnState) {
  SyncWorld w;
  const UserId bob = w.Reader(0), building = ReaderIn(0, 1), dead = ReaderIn(0, 2);
  w.redis.Begin(building, "under way");
  for (const UserId reader : {bob, building, dead}) {
    w.Follow(reader, kAnn);
    w.Give(0, Hint::OfSync(reader, kAnn));
  }
  w.Run();
  EXPECT_EQ(w.metrics.done, 3);
  EXPECT_EQ(w.Items(bob), (Posts{kPost, kBens}));
  EXPECT_FALSE(w.IsLive(building)) << "its rebuild may have read of before";
  EXPECT_FALSE(w.IsLive(dead));
}

// A reader of whom nobody has heard had no timeline when Redis answered.
TEST(SyncRun, OfAReaderWhoIsNotLiveAsksNobodyButForNews) {
  SyncWorld w;
  const UserId dead = ReaderIn(0, 2);
  w.Follow(dead, kAnn);
  w.Give(0, Hint::OfSync(dead, kAnn));
  w.Run();
  EXPECT_EQ(w.metrics.done, 1);
  EXPECT_EQ(w.calls_made, 0u);
}

TEST(SyncRun, AReaderWhoseTimelineIsGoneIsPassedOverTheNextTime) {
  SyncWorld w;
  const UserId bob = w.Reader(0);
  w.Follow(bob, kAnn);
  for (const size_t calls : {2u, 2u, 0u}) {
    w.calls_made = 0;
    w.Give(0, Hint::OfSync(bob, kAnn));
    w.Run();
    EXPECT_EQ(w.calls_made, calls);
    w.redis.Expire(bob);
  }
}

TEST(SyncRun, OfAnUnfollowTakesOutPostsThatNoRowKnowsAnyMore) {
  SyncWorld w;
  const UserId bob = w.Reader(0);
  w.MakeLive(ReaderIn(0, 1), {{PostId{99}, 3'000, kAnn}, {kBens, 1'500, kBen}});
  w.Give(0, Hint::OfSync(ReaderIn(0, 1), kAnn));
  w.Run();
  EXPECT_EQ(w.Items(ReaderIn(0, 1)), Posts{kBens});
  EXPECT_EQ(w.Items(bob), (Posts{kBens, kGone})) << "another's";
}

TEST(SyncRun, OnlyTheCulpritIsQuarantined) {
  SyncWorld w;
  w.GiveTwentyWhoFollow();
  w.poisoned = ReaderIn(0, 7);
  w.slow = ReaderIn(0, 9);
  w.slow_for = 1;  // a failure that passes does not hide the one that stays
  w.Run();
  w.Pass(seconds(1));
  w.Run();
  EXPECT_EQ(w.metrics.done, 20);
  ASSERT_EQ(w.letters.size(), 1u);
  EXPECT_EQ(w.letters.front().record.offset, 7);
  for (int i = 0; i < 20; ++i) {
    const UserId reader = ReaderIn(0, i);
    EXPECT_EQ(w.IsLive(reader), reader != w.poisoned) << i;
    const Posts expected = w.IsLive(reader) ? Posts{kPost, kBens} : Posts{};
    EXPECT_EQ(w.Items(reader), expected) << i;
  }
}

TEST(SyncRun, IsParkedAsOneUntilItsLastReaderIsDone) {
  SyncWorld w;
  w.GiveTwentyWhoFollow();
  w.slow = ReaderIn(0, 7);
  w.slow_for = 3;
  w.Run();
  EXPECT_EQ(w.metrics.done, 0);
  EXPECT_EQ(w.metrics.held.units_parked, 1u);
  EXPECT_EQ(w.metrics.held.hints_parked, 20u);
  for (int i = 0; i < 3; ++i) {
    w.Pass(seconds(1));
    w.Run();
  }
  EXPECT_EQ(w.metrics.done, 20);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(w.Items(ReaderIn(0, i)), (Posts{kPost, kBens})) << i;
}

TEST(SyncRun, FencedForOneReaderIsTakenOverAgainOnce) {
  SyncWorld w;
  for (int i = 0; i < 5; ++i) w.Give(0, Hint::OfSync(w.Reader(i), kAnn));
  w.fenced = ReaderIn(0, 2);
  const size_t before = w.metrics.takeovers.size();
  w.Run();
  w.Pass(seconds(10));  // whatever back-off there is
  w.Run();
  EXPECT_EQ(w.metrics.takeovers.size(), before + 1);
  EXPECT_EQ(w.metrics.done, 0) << "what was under way is forgotten; the log has it";

  w.next_offset[0] = 0;
  for (int i = 0; i < 5; ++i) w.Give(0, Hint::OfSync(ReaderIn(0, i), kAnn));
  w.Run();
  EXPECT_EQ(w.metrics.done, 5);
}

TEST(SyncRun, AllRunsTogetherHaveABoundAndEachLaneGoesOn) {
  SyncWorld w({.syncs_per_unit = 8, .syncs_in_flight = 12});
  for (uint64_t author = 1; author <= 4; ++author) {
    for (int i = 0; i < 20; ++i) w.Give(0, Hint::OfSync(w.Reader(i), UserId{900'000 + author}));
  }
  w.Step();  // asks for news
  w.Step();
  EXPECT_EQ(w.truth_calls.size(), 8u + 4u + 1u + 1u);
  w.Run();
  EXPECT_EQ(w.metrics.done, 80);
}

}  // namespace
}  // namespace fanline::pusher
