// What cannot be read, taken or stored goes to the dead letters.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "fanline/model/created_at.h"
#include "tests/unit/dispatcher/world.h"

namespace fanline::dispatcher {
namespace {

TEST(Dispatcher, KeepsWhatItCannotReadWithTheReason) {
  World w;
  w.GiveBytes("{\"schema_version\":1,\"type\":\"post.published\",\"post_id\":\"0\"}");
  w.RunUntilIdle();
  ASSERT_EQ(w.letters.size(), 1u);
  EXPECT_NE(w.letters[0].reason.find("post_id"), std::string::npos) << w.letters[0].reason;
  EXPECT_EQ(w.letters[0].stage, "dispatcher");
  EXPECT_EQ(w.committed, 1);
}

TEST(Dispatcher, WritesALetterAgainThatMayNotHaveBeenWritten) {
  World w;
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

TEST(Dispatcher, HoldsNoMoreBytesOfLettersThanFit) {
  World w({.event_bytes_per_shard = 20'000});
  for (int i = 0; i < 3; ++i) w.GiveBytes(std::string(8'000, 'x'));
  w.Step();  // nobody takes the letters
  EXPECT_EQ(w.paused, 1u);
  w.RunUntilIdle();
  EXPECT_EQ(w.resumed, 1u);
  EXPECT_EQ(w.letters.size(), 3u);
}

TEST(Dispatcher, RefusesARecordOlderThanRowsAreKept) {
  World w;
  w.Give(Published());
  w.now.unix_ms += std::chrono::milliseconds(std::chrono::hours(24 * 15)).count();
  w.RunUntilIdle();
  ASSERT_EQ(w.letters.size(), 1u);
  EXPECT_TRUE(w.stored.empty()) << "it was inserted";
}

TEST(Dispatcher, AReplayMakesARecordNoYounger) {
  World w;
  const UnixMs first = w.now.unix_ms;
  w.now.unix_ms += std::chrono::milliseconds(std::chrono::hours(24 * 15)).count();
  w.Dispatch(Published(), {{"fanline-first-appended", std::to_string(first)}});
  ASSERT_EQ(w.letters.size(), 1u);
  EXPECT_TRUE(w.stored.empty()) << "it was inserted";
}

TEST(Dispatcher, RefusesATimeInAnotherUnitAndSaysInWhich) {
  for (const auto& [times, unit] : {std::pair{1e3, "microseconds"}, std::pair{1e-3, "seconds"}}) {
    World w;
    FeedEvent event = Published();
    event.created_at = static_cast<UnixMs>(static_cast<double>(w.now.unix_ms) * times);
    w.Dispatch(event);
    ASSERT_EQ(w.letters.size(), 1u);
    EXPECT_NE(w.letters[0].reason.find(std::string("is it in ") + unit + "?"), std::string::npos);
  }
}

TEST(Dispatcher, TakesWhatIsDatedAFewMinutesAheadAndNoMore) {
  const UnixMs most = std::chrono::milliseconds(std::chrono::minutes(6)).count();
  for (const UnixMs ahead : {most, most + 1}) {
    World w;
    FeedEvent event = Published();
    event.created_at = w.now.unix_ms + ahead;
    w.Dispatch(event);
    EXPECT_EQ(w.letters.size(), ahead > most ? 1u : 0u);
  }
}

// Who was answered 202 is not told of a dead letter.
TEST(Dispatcher, TakesWhatWasAcceptedByAClockThatIsAheadOfItsOwn) {
  World w;
  const UnixMs clock_of_api = w.now.unix_ms + 60'000;
  FeedEvent event = Published();
  event.created_at = clock_of_api + std::chrono::milliseconds(kFurthestFuture).count();
  ASSERT_EQ(WhyNotTaken(event.created_at, clock_of_api), "");
  w.Dispatch(event);
  EXPECT_TRUE(w.letters.empty());
}

TEST(Dispatcher, FindsTheOneEventThatCannotBeStored) {
  World w;
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

}  // namespace
}  // namespace fanline::dispatcher
