// A shard that is away or hangs holds up nobody else; what waits for it is parked, and bounded.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/unit/dispatcher/world.h"

namespace fanline::dispatcher {
namespace {

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
  World w(Open(16));
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
  const Limits limits = Open(16);
  World w(limits);
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
  World w({.events_open = 30}, kRanges, 3);
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

TEST(Dispatcher, WhatIsParkedIsBounded) {
  for (const auto& [headers, least, most] :
       {std::tuple(Headers{}, 16u, 50u), {{{"baggage", std::string(6'000, 'b')}}, 0u, 5u}}) {
    // Room for some thirty events without headers.
    World w({.events_open = 16, .event_bytes_per_shard = 20'000});
    for (uint64_t i = 0; i < 100 && w.paused == 0; ++i) {
      w.Give(Published(PostId{1'000 + i}, AuthorOn(0)), headers);
      w.Step();
      Lose(w, 0);
      w.Step();
    }
    EXPECT_EQ(w.paused, 1u);
    EXPECT_GT(w.dispatcher.events_open(), least);
    EXPECT_LT(w.dispatcher.events_open(), most);

    w.Pass(std::chrono::seconds(10));
    w.RunUntilIdle();
    EXPECT_EQ(w.resumed, 1u);
    EXPECT_EQ(w.committed, w.next_offset);
  }
}

// No parked event can be committed, so each owner reads all of them again, this one too.
TEST(Dispatcher, WhatIsParkedIsHeldOnceHoweverOftenItsPartitionMoves) {
  constexpr uint64_t kParked = 30;
  // Room for three times what is parked.
  World w({.events_open = 16, .event_bytes_per_shard = 60'000});
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
  EXPECT_EQ(w.log[0].post, PostId{78});
  EXPECT_EQ(w.committed, 1);
}

TEST(Dispatcher, WhatIsUnderWayWhenItsPartitionGoesIsStoredAndHintedButNotParked) {
  for (const bool away : {false, true}) {
    World w;
    w.Give(Published(kPost, AuthorOn(0)));
    w.Step();
    w.inbox.emplace_back(PartitionRevoked{0});
    w.Step();
    EXPECT_EQ(w.dispatcher.events_open(), 1u);
    if (away) Lose(w, 0);
    w.Store();
    w.Step();
    EXPECT_EQ(w.Appending().size(), away ? 0u : kRanges);
    EXPECT_EQ(w.dispatcher.drained(), away);
  }
}

}  // namespace
}  // namespace fanline::dispatcher
