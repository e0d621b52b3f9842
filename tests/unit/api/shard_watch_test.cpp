#include "api/shard_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/requests.h"

namespace fanline::api {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct FakeProbe : Serves<PingShard> {
  void Submit(PingShard request, ReplyTo<ShardPinged>) override { asked.push_back(request); }
  std::vector<PingShard> asked;
};

class ShardWatchTest : public ::testing::Test {
 protected:
  Time Step(std::vector<ShardPinged> replies = {}) { return watch_.Step(replies, now_); }
  ShardPinged Answer(size_t question, Status status = Status::Done()) {
    const PingShard& asked = probe_.asked.at(question);
    return {asked.id, asked.shard, std::move(status)};
  }

  Time now_{1h};
  FakeProbe probe_;
  std::vector<std::string> told_;
  ShardWatch watch_{
      {probe_, fakes::nobody}, 2, [this](Shard shard, bool reachable, const std::string& reason) {
        told_.push_back(std::to_string(shard) + (reachable ? " up" : " " + reason));
      }};
};

TEST_F(ShardWatchTest, AsksEveryShardOnceASecond) {
  Step();
  EXPECT_EQ(probe_.asked.size(), 2u);
  EXPECT_EQ(Step({Answer(0), Answer(1)}), now_ + 1s);
  EXPECT_EQ(probe_.asked.size(), 2u);
  now_ += 1s;
  Step();
  EXPECT_EQ(probe_.asked.size(), 4u);
}

TEST_F(ShardWatchTest, TellsOnlyWhatChanges) {
  Step();
  EXPECT_THAT(told_, IsEmpty());
  Step({Answer(0), Answer(1, Status::Later("mysql_1", "refused"))});
  EXPECT_THAT(told_, ElementsAre("0 up", "1 refused"));
  now_ += 1s;
  Step();
  Step({Answer(2), Answer(3, Status::Later("mysql_1", "refused"))});
  EXPECT_EQ(told_.size(), 2u);
  now_ += 1s;
  Step();
  Step({Answer(5, Status::Later("mysql_1", "wrong password"))});
  EXPECT_EQ(told_.back(), "1 wrong password");
  now_ += 1s;
  Step();
  Step({Answer(6)});
  EXPECT_EQ(told_.back(), "1 up");
  EXPECT_EQ(told_.size(), 4u);
}

TEST_F(ShardWatchTest, AShardThatSaysNothingIsAwayAndIsNotAskedMore) {
  Step();
  Step({Answer(0)});
  now_ += 1999ms;
  Step();
  EXPECT_THAT(told_, ElementsAre("0 up"));
  now_ += 1ms;
  Step();
  EXPECT_THAT(told_, ElementsAre("0 up", "1 no answer"));
  for (int i = 0; i < 10; ++i) {
    now_ += 1s;
    Step();
  }
  EXPECT_EQ(std::count_if(probe_.asked.begin(), probe_.asked.end(),
                          [](const PingShard& asked) { return asked.shard == 1; }),
            1);
  Step({Answer(1)});
  EXPECT_EQ(told_.back(), "1 up");
}

TEST_F(ShardWatchTest, AnAnswerToAnotherQuestionSaysNothing) {
  Step();
  ShardPinged stranger = Answer(0);
  stranger.id += 77;
  Step({stranger});
  EXPECT_THAT(told_, IsEmpty());
}

}  // namespace
}  // namespace fanline::api
