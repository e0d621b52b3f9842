// A range that takes no hints holds up no other. What waits for it is parked, and bounded.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/unit/dispatcher/world.h"

namespace fanline::dispatcher {
namespace {

const Status kAway = Status::Later("kafka", "not acknowledged in time");
constexpr Range kStuck = 2;

// The log of one range takes nothing; all else is answered at once.
struct Stuck : World {
  using World::World;

  // Answers what is under way. `hanging` keeps requests to the stuck range; without it they fail.
  void Answer(std::vector<AppendHints>* hanging) {
    Store();
    for (auto& request : std::exchange(appends, {})) {
      if (request.hints.front().first != kStuck) {
        inbox.emplace_back(HintsAppended{request.id, {}});
        for (size_t hint = 0; hint < request.hints.size(); ++hint) Log(request, hint);
      } else if (hanging != nullptr) {
        hanging->push_back(std::move(request));
      } else {
        tried += request.hints.size();
        inbox.emplace_back(HintsAppended::Of(request.id, kAway, request.hints.size()));
      }
    }
  }
  void Run(std::vector<AppendHints>* hanging = nullptr) {
    for (int turn = 0; turn < 3; ++turn) {
      Step();
      Answer(hanging);
    }
    Step();
  }
  size_t InLog(size_t hints) const {
    return static_cast<size_t>(std::count_if(log.begin(), log.end(), [hints](const Logged& post) {
      return post.hints.size() == hints;
    }));
  }
  size_t tried = 0;  // hints of the stuck range
};

TEST(SlowRanges, OfHintsThatTravelTogetherOnlyThoseNamedAreAppendedAgain) {
  World w;
  for (uint64_t post = 1; post <= 3; ++post) w.Give(Published(PostId{post}));
  w.TakeAndStore();
  ASSERT_EQ(w.appends.size(), kRanges);
  ASSERT_EQ(w.appends[0].hints.size(), 3u);
  w.inbox.emplace_back(HintsAppended{w.appends[0].id, kAway, {{1, kAway}}});
  w.appends.erase(w.appends.begin());
  w.Acknowledge();
  w.Step();
  w.Pass(std::chrono::seconds(10));
  w.Step();
  ASSERT_EQ(w.Appending(), std::vector<Range>{0});
  EXPECT_EQ(std::get<Hint::Post>(w.appends[0].hints[0].second.what).post, PostId{2});
  EXPECT_EQ(w.dispatcher.events_open(), 1u);
}

TEST(SlowRanges, AHintThatCanNeverBeAppendedEndsItsEventAlone) {
  World w;
  for (uint64_t post = 1; post <= 2; ++post) w.Give(Published(PostId{post}));
  w.TakeAndStore();
  ASSERT_EQ(w.appends.size(), kRanges);
  const Status never = Status::Never("too large");
  w.inbox.emplace_back(HintsAppended{w.appends[0].id, never, {{0, never}}});
  w.appends.erase(w.appends.begin());
  w.Acknowledge();
  w.Step();
  w.Refuse(never);
  w.RunUntilIdle();
  ASSERT_EQ(w.letters.size(), 1u);
  EXPECT_EQ(w.letters[0].record.offset, 0);
  EXPECT_EQ(w.letters[0].reason, "too large");
  EXPECT_EQ(w.committed, 2);
}

// A broker may refuse a batch that is too large for the topic, whatever is in it.
TEST(SlowRanges, WhatIsRefusedForGoodBesideOthersIsAppendedOnceMoreAlone) {
  World w(Limits(), 1, 1);
  for (uint64_t post = 1; post <= 3; ++post) w.Give(Published(PostId{post}));
  w.TakeAndStore();
  ASSERT_EQ(w.Appending().size(), 3u);
  w.Refuse(Status::Never("too large"));
  for (uint64_t post = 1; post <= 3; ++post) {
    w.Give(Published(PostId{10 + post}));
    w.TakeAndStore();
    ASSERT_EQ(w.Appending().size(), 1u) << "nothing travels with it";
    EXPECT_EQ(std::get<Hint::Post>(w.appends[0].hints[0].second.what).post, PostId{post});
    if (post == 2) {
      w.Refuse(Status::Never("too large"));
    } else {
      w.Acknowledge();
    }
  }
  w.RunUntilIdle();
  ASSERT_EQ(w.letters.size(), 1u);
  EXPECT_EQ(w.letters[0].record.offset, 1);
  EXPECT_EQ(w.log.size(), 5u);
  EXPECT_EQ(w.committed, 6);
}

TEST(SlowRanges, ARangeThatTakesNothingDoesNotStopTheOthersAndLosesNothing) {
  for (const bool hangs : {false, true}) {
    const Limits limits = Open(16);
    Stuck w(limits);
    std::vector<AppendHints> hanging;
    for (uint64_t i = 0; i < 500; ++i) {
      w.Give(Published(PostId{1'000 + i}));
      w.Run(hangs ? &hanging : nullptr);
      ASSERT_EQ(w.InLog(kRanges - 1), i + 1);
      w.Pass(std::chrono::milliseconds(100));
    }
    EXPECT_EQ(w.paused, 0u);
    EXPECT_LE(w.committed, 0) << "a restart must read all of them again";
    EXPECT_LT(w.tried, 200u) << "it is tried with a few hints, and backs off";
    EXPECT_LE(hanging.size(), limits.events_open / 4) << "others need room in the send queue";

    w.appends = std::move(hanging);
    w.Pass(std::chrono::seconds(10));
    w.RunUntilIdle();
    EXPECT_EQ(w.InLog(kRanges), 500u);
    EXPECT_EQ(w.committed, 500);
  }
}

TEST(SlowRanges, WhatWaitsForThemIsBounded) {
  // Room for some thirty events.
  Stuck w({.events_open = 16, .parked_bytes_of_ranges = 20'000});
  for (uint64_t i = 0; i < 100 && w.paused == 0; ++i) {
    w.Give(Published(PostId{1'000 + i}));
    w.Run();
  }
  EXPECT_EQ(w.paused, 1u);
  EXPECT_GT(w.dispatcher.events_open(), 16u);
  EXPECT_LT(w.dispatcher.events_open(), 50u);

  w.Pass(std::chrono::seconds(10));
  w.RunUntilIdle();
  EXPECT_EQ(w.resumed, 1u);
  EXPECT_EQ(w.committed, w.next_offset);
}

TEST(SlowRanges, WhatWaitsForThemIsForgottenWhenItsPartitionMoves) {
  Stuck w(Open(16));
  for (int moves = 0; moves < 5; ++moves) {
    w.Assign();
    EXPECT_TRUE(w.dispatcher.drained()) << "its next owner's to do";
    w.next_offset = 0;
    for (uint64_t i = 0; i < 30; ++i) {
      w.Give(Published(PostId{1'000 + i}));
      w.Run();
    }
    ASSERT_EQ(w.dispatcher.events_open(), 30u);
  }
  EXPECT_EQ(w.paused, 0u);
  w.Pass(std::chrono::seconds(10));
  w.RunUntilIdle();
  EXPECT_EQ(w.committed, 30);
}

TEST(SlowRanges, AllOfThemAreTriedAgainAlsoAfterTheirPartitionsMoved) {
  World w;
  w.Give(Published());
  w.TakeAndStore();
  w.Refuse(kAway);
  w.Step();
  w.inbox.emplace_back(PartitionRevoked{0});
  w.Step();
  EXPECT_TRUE(w.dispatcher.drained());
  w.Pass(std::chrono::seconds(10));
  w.Step();
  w.Assign();
  w.next_offset = 0;
  w.Dispatch(Published());
  EXPECT_EQ(w.log.size(), 1u);
  EXPECT_EQ(w.committed, 1);
}

// Ids of events that are no more must not take the room of those that came again.
TEST(SlowRanges, WhatWasForgottenTakesNoRoomOfWhatComesAgain) {
  World w(Limits(), 1, 1);
  for (int times = 0; times < 2; ++times) {
    w.Assign();
    w.next_offset = 0;
    for (uint64_t post = 1; post <= 40; ++post) w.Give(Published(PostId{post}));
    w.TakeAndStore();
    if (times > 0) break;
    ASSERT_EQ(w.Appending().size(), 40u);
    w.Refuse(kAway);
    w.Step();
    ASSERT_TRUE(w.next_timer);
    w.inbox.emplace_back(PartitionRevoked{0});
    w.Step();
    EXPECT_TRUE(w.dispatcher.drained());
  }
  EXPECT_EQ(w.Appending().size(), 0u) << "the range has a back-off";
  ASSERT_TRUE(w.next_timer);
  w.now.mono = *w.next_timer;
  w.Step();
  EXPECT_EQ(w.Appending().size(), 16u);
  w.RunUntilIdle();
  EXPECT_EQ(w.committed, 40);
}

TEST(SlowRanges, ABackOffEndsAlsoWhenNothingWaitsAnyMore) {
  World w(Limits(), 1, 1);
  w.Give(Published());
  w.TakeAndStore();
  w.Refuse(kAway);
  w.Step();
  w.inbox.emplace_back(PartitionRevoked{0});
  w.Step();
  w.Pass(std::chrono::seconds(10));
  w.Step();
  EXPECT_TRUE(!w.next_timer || *w.next_timer > w.now.mono);
}

// It is not forgotten with the others: that hint may yet be acknowledged.
TEST(SlowRanges, WhatIsParkedAndTriedWhileItsPartitionMovesIsForgottenOnceThatFails) {
  Stuck w;
  w.Give(Published());
  w.Run();
  ASSERT_EQ(w.dispatcher.events_open(), 1u);
  w.Pass(std::chrono::seconds(10));
  w.Step();
  ASSERT_EQ(w.Appending(), std::vector<Range>{kStuck});
  w.inbox.emplace_back(PartitionRevoked{0});
  w.Step();
  EXPECT_EQ(w.dispatcher.events_open(), 1u);
  w.Refuse(kAway);
  w.Step();
  EXPECT_TRUE(w.dispatcher.drained());
}

// Both would otherwise be counted once more, or never again.
TEST(SlowRanges, WhatIsParkedForARangeAndThenRefusedIsNoJobOfItsShard) {
  Stuck w(Open(16));
  for (uint64_t round = 0; round < 20; ++round) {
    w.Give(Published(PostId{1'000 + round}));
    w.Run();
    w.Pass(std::chrono::seconds(10));
    w.Step();
    w.Refuse(Status::Never("too large"));
    w.Step();
    w.Refuse(Status::Never("too large"));
    w.RunUntilIdle();
    ASSERT_EQ(w.letters.size(), round + 1);
  }
  EXPECT_EQ(w.committed, 20);
  for (uint64_t post = 1; post <= 4; ++post) w.Give(Published(PostId{post}));
  w.Step();
  EXPECT_EQ(w.paused, 0u);
}

}  // namespace
}  // namespace fanline::dispatcher
