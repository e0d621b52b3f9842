// How many units and pages are under way, and who has the next place.
#include <gtest/gtest.h>

#include "tests/unit/pusher/world.h"

namespace fanline::pusher {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// ---- pages under way ------------------------------------------------------------------------

// Five authors whom the same nine readers follow, and places for four.
struct PagesWorld : World {
  static constexpr int kReaders = 9;

  PagesWorld()
      : World({.followers_on_first_page = 2,
               .followers_per_page = 100,
               .units_in_flight = 4,
               .large_pages_in_flight = 1}) {
    AssignAll();
    for (int reader = 0; reader < kReaders; ++reader) {
      for (const PostId post : posts) Follow(ReaderIn(0, reader), UserId{Raw(post)});
      MakeLive(ReaderIn(0, reader));
    }
    for (const PostId post : posts) {
      Publish(UserId{Raw(post)}, post, static_cast<UnixMs>(Raw(post)));
      Give(0, Hint::OfPost(UserId{Raw(post)}, post));
    }
    Step();
  }
  // The readers for whom there must be memory, of each page that is asked for.
  std::vector<uint32_t> Asked() const {
    std::vector<uint32_t> asked;
    for (const auto& call : truth_calls) asked.push_back(std::get<ReadFollowerPage>(call).limit);
    return asked;
  }
  void FinishPages() {
    AnswerTruth();
    Step();
    AnswerTimelines();
    Step();
  }

  const std::vector<PostId> posts{PostId{5'001}, PostId{5'002}, PostId{5'003}, PostId{5'004},
                                  PostId{5'005}};
};

TEST(PagesUnderWay, AreSmallOnesAndAFewLargeOnesOfAuthorsWithManyFollowers) {
  PagesWorld w;
  using Limits = std::vector<uint32_t>;
  EXPECT_EQ(w.Asked(), (Limits{2, 2, 2, 2})) << "first pages";
  w.FinishPages();
  EXPECT_EQ(w.Asked(), (Limits{2, 100})) << "a fifth began; large ones take turns";
  for (int author = 2; author <= 5; ++author) {
    w.FinishPages();
    EXPECT_EQ(w.Asked(), Limits{100});
  }
  w.RunUntilIdle();
  const std::vector<PostId> newest_first(w.posts.rbegin(), w.posts.rend());
  for (int reader = 0; reader < PagesWorld::kReaders; ++reader) {
    EXPECT_EQ(w.Items(ReaderIn(0, reader)), newest_first);
  }
}

// ---- units under way ------------------------------------------------------------------------

// Authors that nobody follows: each is done with the answer to its one read.
struct FullWorld : World {
  explicit FullWorld(uint32_t units, uint64_t authors) : World({.units_in_flight = units}) {
    AssignAll();
    for (uint64_t author = 1; author <= authors; ++author) {
      Give(0, Hint::OfPost(UserId{author}, PostId{author}));
    }
    Step();
  }
  void AnswerSome(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      inbox.emplace_back(mysql.Do(std::get<ReadFollowerPage>(truth_calls.front())));
      truth_calls.erase(truth_calls.begin());
    }
    Step();
  }
};

TEST(UnitsUnderWay, AreNoMoreThanTheirPlacesAlsoWithWhatWasParked) {
  FullWorld w(1, 2);
  w.FailPage(Status::Later("mysql_1", "away"));
  w.Step();
  ASSERT_EQ(w.truth_calls.size(), 1u) << "the other author's";
  w.Pass(seconds(10));
  w.Step();
  EXPECT_EQ(w.truth_calls.size(), 1u);
  w.AnswerSome(1);
  EXPECT_EQ(w.truth_calls.size(), 1u) << "what was parked";
}

TEST(UnitsUnderWay, OnceFullStartAQuarterAtATime) {
  FullWorld w(8, 16);
  ASSERT_EQ(w.truth_calls.size(), 8u);
  w.AnswerSome(1);
  EXPECT_EQ(w.truth_calls.size(), 7u);
  w.AnswerSome(1);
  EXPECT_EQ(w.truth_calls.size(), 8u);
}

TEST(UnitsUnderWay, ThatTakeLongDoNotKeepAnOrdinaryAuthorFromAFreePlace) {
  FullWorld w(1'024, 1'024);
  w.AnswerSome(200);  // 824 others go on
  w.Give(0, Hint::OfPost(UserId{5'000}, kPost));
  w.Step();
  ASSERT_EQ(w.truth_calls.size(), 824u);
  ASSERT_TRUE(w.next_timer && *w.next_timer <= w.now.mono + Limits{}.refill_within);
  w.Pass(*w.next_timer - w.now.mono);
  w.Step();
  EXPECT_EQ(w.truth_calls.size(), 825u);
}

}  // namespace
}  // namespace fanline::pusher
