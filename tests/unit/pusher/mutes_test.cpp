// Syncs of a reader with himself: a live timeline names the version of his mutes.
#include <gtest/gtest.h>

#include "tests/unit/pusher/world.h"

namespace fanline::pusher {
namespace {

struct MutesWorld : World {
  explicit MutesWorld(bool own_posts = false) : World({}, nullptr, 1, own_posts) { AssignAll(); }

  void Change(ChangeMutes::What what, UserId author) {
    mysql.relations.Do(ChangeMutes{.user = bob, .what = what, .authors = {author}});
  }
  void Sync() { Push(0, Hint::OfSync(bob, bob)); }
  const fakes::FakeRedis::Timeline& timeline() const { return redis.timelines().at(bob); }
  uint64_t version() const { return mysql.relations.mutes(bob).version; }

  const UserId bob = ReaderIn(0);
};

TEST(MutesSync, SetsTheVersionChangesItAndTakesItAway) {
  MutesWorld w;
  w.MakeLive(w.bob);
  w.Sync();
  EXPECT_EQ(w.timeline().mutes, 0u);
  w.Change(ChangeMutes::What::kMute, kAnn);
  w.Sync();
  EXPECT_EQ(w.timeline().mutes, w.version());
  w.Change(ChangeMutes::What::kMute, kBen);
  w.Sync();
  EXPECT_EQ(w.timeline().mutes, w.version());
  w.Change(ChangeMutes::What::kReplace, kBen);
  w.Change(ChangeMutes::What::kUnmute, kBen);
  w.Sync();
  EXPECT_EQ(w.timeline().mutes, 0u);
}

// Nobody follows himself, but own posts are no less his for that.
TEST(MutesSync, LeavesTheReadersOwnPostsAlone) {
  for (const bool own_posts : {false, true}) {
    MutesWorld w(own_posts);
    w.Publish(w.bob, kPost, 1'000);
    w.MakeLive(w.bob, {{kPost, 1'000, w.bob}});
    w.Change(ChangeMutes::What::kMute, kAnn);
    w.Sync();
    EXPECT_EQ(w.Items(w.bob).size(), 1u);
    EXPECT_EQ(w.timeline().mutes, w.version());
  }
}

// A rebuild under way may have read an older row.
TEST(MutesSync, DropsATimelineThatIsBeingBuilt) {
  MutesWorld w;
  w.redis.Begin(w.bob, "t");
  w.Sync();
  EXPECT_FALSE(w.IsLive(w.bob));
  EXPECT_FALSE(w.redis.Finish(w.bob, "t", {}, kNoFloor));
}

TEST(MutesSync, MakesNoTimeline) {
  MutesWorld w;
  w.Change(ChangeMutes::What::kMute, kAnn);
  w.Sync();
  EXPECT_FALSE(w.IsLive(w.bob));
  EXPECT_EQ(w.metrics.done, 1);
}

TEST(MutesSync, WaitsForAShardThatIsAwayAndForAClaim) {
  MutesWorld w;
  w.MakeLive(w.bob);
  w.Change(ChangeMutes::What::kMute, kAnn);
  w.Give(0, Hint::OfSync(w.bob, w.bob));
  w.Step();  // asks for news
  w.Step();
  const auto read = std::get<ReadMutes>(w.truth_calls.at(0));
  w.truth_calls.clear();
  w.inbox.emplace_back(
      MutesRead{.id = read.id, .status = Status::Later("mysql_0", "away"), .mutes = {}});
  w.Step();
  EXPECT_EQ(w.timeline().mutes, 0u);
  w.RunFor(std::chrono::minutes(1));
  EXPECT_EQ(w.timeline().mutes, w.version());
}

TEST(MutesSync, DropsATimelineThatAFullRedisCannotExtend) {
  MutesWorld w;
  w.MakeLive(w.bob);
  w.Change(ChangeMutes::What::kMute, kAnn);
  w.redis.full = true;
  w.Sync();
  EXPECT_FALSE(w.IsLive(w.bob));
  EXPECT_EQ(w.metrics.full, 1u);
}

}  // namespace
}  // namespace fanline::pusher
