// What the owner of a range is told of who began a timeline, and what it can rely on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pusher/base/limits.h"
#include "tests/integration/redis/timelines_world.h"

namespace fanline::redis::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Timelines = ResetRange::Timelines;

class RedisNews : public RedisTimelines {
 protected:
  NewsRead News(uint64_t heard = 0, uint32_t limit = 1000) {
    return driver_.Do(ReadNews{0, range_, kEpoch, heard, limit});
  }
  static std::vector<UserId> ReadersIn(const NewsRead& news) {
    std::vector<UserId> readers;
    for (const auto& [reader, number] : news.announced) readers.push_back(reader);
    return readers;
  }
  void Expire(UserId reader) { console_.Run({"DEL", Name(keys_.Timeline(reader))}); }
};

TEST_F(RedisNews, ComeInPagesInTheOrderInWhichTimelinesWereBegun) {
  std::vector<UserId> readers = OthersHere(5);
  std::swap(readers[0], readers[3]);
  for (const UserId reader : readers) Open(reader);
  std::vector<UserId> told;
  uint64_t heard = 0;
  for (const size_t page : {2u, 2u, 1u, 0u}) {
    const NewsRead news = News(heard, 2);
    ASSERT_TRUE(news.status.done()) << news.status.message;
    EXPECT_EQ(news.index, kEpoch);
    EXPECT_EQ(news.readers, 5u);
    EXPECT_EQ(news.last, 5u);
    ASSERT_EQ(news.announced.size(), page);
    for (const auto& [reader, number] : news.announced) {
      EXPECT_GT(number, heard);
      heard = number;
      told.push_back(reader);
    }
  }
  EXPECT_EQ(told, readers);
  EXPECT_EQ(heard, 5u);
}

// Redis does nothing else during a call, and takes 1.5 us for a reader whom it names.
TEST_F(RedisNews, NameFewReadersInACallOfAPusherHoweverManyAreListed) {
  const uint32_t limit = pusher::Limits{}.news_per_call;
  EXPECT_LE(limit, 600u) << "longer than a millisecond";
  const size_t readers = 2 * limit + 50;
  std::vector<std::string> listed{"ZADD", Name(keys_.Live(range_)), "-" + std::to_string(readers),
                                  "#n"};
  for (const UserId reader : OthersHere(readers)) {
    listed.push_back(std::to_string(listed.size() / 2 - 1));
    listed.push_back(ToString(reader));
  }
  console_.Run(listed);
  std::vector<size_t> pages;
  uint64_t heard = 0;
  do {
    const NewsRead news = News(heard, limit);
    ASSERT_TRUE(news.status.done()) << news.status.message;
    ASSERT_EQ(news.readers, readers);
    pages.push_back(news.announced.size());
    heard = news.announced.back().number;
  } while (pages.back() == limit);
  EXPECT_THAT(pages, ElementsAre(limit, limit, 50));
  EXPECT_EQ(heard, readers);
}

TEST_F(RedisNews, NameAReaderAgainWhoBeganAnew) {
  Build(kBob, 3);
  const uint64_t heard = News().last;
  EXPECT_THAT(News(heard).announced, IsEmpty());
  Expire(kBob);
  EXPECT_THAT(News(heard).announced, IsEmpty()) << "he is listed until a push meets no timeline";
  Open(kBob);
  const NewsRead news = News(heard);
  EXPECT_THAT(ReadersIn(news), ElementsAre(kBob));
  EXPECT_GT(news.last, heard);
  EXPECT_EQ(news.readers, 1u);
}

TEST_F(RedisNews, GiveNoNumberTwiceThoughItsReaderLeft) {
  Open(kBob);
  const uint64_t heard = News().last;
  Expire(kBob);
  Push(kBob, {At(77, 9)});
  EXPECT_EQ(News().readers, 0u);
  EXPECT_THAT(News().announced, IsEmpty());
  EXPECT_EQ(News().last, heard);
  Open(kBob);
  EXPECT_THAT(ReadersIn(News(heard)), ElementsAre(kBob));
}

TEST_F(RedisNews, AreToldToTheOwnerAlone) {
  Open(kBob);
  Own(kEpoch + 1);
  const NewsRead fenced = News();
  EXPECT_TRUE(fenced.status.later());
  EXPECT_TRUE(fenced.needs_claim);
  EXPECT_EQ(fenced.status.resource, "fence");
  EXPECT_THAT(fenced.announced, IsEmpty());
  console_.Run({"DEL", Name(keys_.Own(range_))});
  const NewsRead lost = News();
  EXPECT_TRUE(lost.needs_claim);
  EXPECT_EQ(lost.status.resource, "redis");
}

TEST_F(RedisNews, SayWhichTakeoverCompletedTheIndex) {
  Build(kBob, 3);
  EXPECT_EQ(News().index, kEpoch);
  Own(kEpoch + 1);
  const auto reset =
      driver_.Do(ResetRange{0, range_, kEpoch + 1, Timelines::kIndex, AppliedPosition{1, 0}});
  ASSERT_TRUE(reset.status.done());
  const RangeClaimed claimed = driver_.Do(ClaimRange{0, range_, kEpoch + 2});
  EXPECT_EQ(claimed.index, kEpoch + 1);
  const NewsRead news = driver_.Do(ReadNews{0, range_, kEpoch + 2, 0, 10});
  EXPECT_EQ(news.index, kEpoch + 1);
  EXPECT_THAT(ReadersIn(news), ElementsAre(kBob));
}

// The owner goes on meanwhile, with the numbers that it heard.
TEST_F(RedisNews, AQuarantineLeavesTheMarksAndTheNumbersOfTheIndex) {
  Build(kBob, 3);
  const UserId other = OthersHere(1).front();
  const NewsRead before = News();
  const auto walk = driver_.Do(ResetRange{0, range_, kEpoch, Timelines::kDrop, std::nullopt});
  ASSERT_TRUE(walk.status.done()) << walk.status.message;
  EXPECT_EQ(walk.dropped, 1u);
  EXPECT_FALSE(IsListed(kBob));
  NewsRead after = News();
  EXPECT_EQ(after.index, before.index);
  EXPECT_EQ(after.last, before.last);
  EXPECT_EQ(after.readers, 0u);
  Open(other);
  after = News(before.last);
  EXPECT_THAT(ReadersIn(after), ElementsAre(other));
  EXPECT_EQ(console_.Run({"GET", Name(keys_.MaxFloor(range_))}).find('?'), std::string::npos);
}

TEST_F(RedisNews, OfAnIndexThatIsMissingOrOfAWrongTypeAreThatItIsNotComplete) {
  Build(kBob, 3);
  console_.Run({"DEL", Name(keys_.Live(range_))});
  for (int wrong = 0; wrong < 2; ++wrong) {
    const NewsRead news = News();
    ASSERT_TRUE(news.status.done()) << news.status.message;
    EXPECT_EQ(news.index, 0u);
    EXPECT_EQ(news.last, 0u);
    EXPECT_EQ(news.readers, 0u);
    EXPECT_THAT(news.announced, IsEmpty());
    console_.Run({"SET", Name(keys_.Live(range_)), "no index"});
  }
  const auto walk = driver_.Do(ResetRange{0, range_, kEpoch, Timelines::kDrop, std::nullopt});
  EXPECT_TRUE(walk.status.done()) << "a quarantine ends beside it: " << walk.status.message;
}

}  // namespace
}  // namespace fanline::redis::testing
