// What feedctl doctor makes of records that wait, and which it calls the oldest.
#include "feedctl/doctor/oldest_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "feedctl/doctor/judge.h"
#include "tests/unit/feedctl/checks.h"

namespace fanline::feedctl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

LogFacts Log(bool of_posts = true) {
  return {.topic = "t",
          .group = "g",
          .program = "fanline-x",
          .of_posts = of_posts,
          .members = 1,
          .committed = true,
          .waiting = 5,
          .oldest_s = 1};
}

Check Judged(const LogFacts& log) { return JudgeLogs({log}).front(); }

TEST(Lag, IsToldAndTheAlertsJudgeIt) {
  EXPECT_EQ(Judged(Log()).level, Level::kWell);
  EXPECT_EQ(Judged(Log()).text, "5 records wait, the oldest for 1.0 s, 1 reader");
  LogFacts log = Log();
  log.oldest_s.reset();
  log.members.reset();
  EXPECT_EQ(Judged(log).text, "5 records wait");
  log.oldest_s = 600;
  EXPECT_EQ(Judged(log).level, Level::kWell);
  EXPECT_EQ(Judged(log).text, "5 records wait, the oldest for 10 min");
}

TEST(Lag, OfPartitionsThatCouldNotBeReadIsNotCalledWell) {
  LogFacts log = Log();
  log.unread = 2;
  EXPECT_EQ(Judged(log).level, Level::kNote);
  EXPECT_THAT(Judged(log).text, HasSubstr("the oldest of 2 partitions is not known"));
}

// Partitions 0 to 3: a busy one, a stuck one with a single record, one that waits for nothing, one
// whose group never committed.
std::vector<kafka::PartitionLag> Lags() {
  return {{0, 100, 0, 150}, {1, 7, 0, 8}, {2, 20, 0, 20}, {3, std::nullopt, 5, 7}};
}
constexpr UnixMs kWrittenAt[] = {9'000, 1'000, 500, 8'000};

bool InTime() { return true; }

TEST(OldestRecord, IsSoughtInEveryPartitionWhereSomethingWaits) {
  std::vector<std::pair<int32_t, int64_t>> read;
  const auto oldest = FindOldest(
      Lags(),
      [&](const kafka::LogSpan& span, UnixMs* written_at) {
        EXPECT_EQ(span.to, span.from + 1);
        read.emplace_back(span.partition, span.from);
        *written_at = kWrittenAt[span.partition];
        return FirstRecord::kRead;
      },
      InTime);
  EXPECT_EQ(oldest.written_at, 1'000);
  EXPECT_EQ(oldest.unread, 0u);
  EXPECT_THAT(read, ElementsAre(std::pair(0, 100), std::pair(3, 5), std::pair(1, 7)));
}

TEST(OldestRecord, ThatCannotBeReadHidesNoOther) {
  const auto oldest = FindOldest(
      Lags(),
      [](const kafka::LogSpan& span, UnixMs* written_at) {
        if (span.partition == 0) return FirstRecord::kNotRead;
        if (span.partition == 3) *written_at = kWrittenAt[3];  // that of 1 is gone
        return FirstRecord::kRead;
      },
      InTime);
  EXPECT_EQ(oldest.written_at, 8'000);
  EXPECT_EQ(oldest.unread, 1u);
  EXPECT_TRUE(oldest.corrupt.empty());
}

TEST(OldestRecord, ThatNobodyCanReadIsToldByItsPlace) {
  const auto oldest = FindOldest(
      Lags(),
      [](const kafka::LogSpan& span, UnixMs* written_at) {
        *written_at = kWrittenAt[span.partition];
        return span.partition == 1 ? FirstRecord::kCorrupt : FirstRecord::kRead;
      },
      InTime);
  EXPECT_EQ(oldest.written_at, 8'000);
  EXPECT_EQ(oldest.unread, 0u);
  ASSERT_EQ(oldest.corrupt.size(), 1u);
  EXPECT_EQ(oldest.corrupt[0].partition, 1);
  EXPECT_EQ(oldest.corrupt[0].from, 7);
}

TEST(Lag, BehindARecordThatNobodyCanReadSaysWhereAndWhatToDo) {
  LogFacts log = Log();
  log.members = 0;
  log.unread = 1;
  log.corrupt = {"3/17", "5/2"};
  EXPECT_EQ(Judged(log).level, Level::kLook);
  EXPECT_THAT(Judged(log).text, HasSubstr("corrupt records at 3/17, 5/2 "));
  EXPECT_THAT(Judged(log).text, HasSubstr("5 records wait"));
  EXPECT_THAT(Judged(log).advice, HasSubstr("delete the records below"));
  EXPECT_EQ(Judged(log).runbook, "stores.md#fanlinelogunreadable");
}

TEST(OldestRecord, IsSoughtNoLongerThanThereIsTime) {
  int left = 1;
  const auto oldest = FindOldest(
      Lags(),
      [](const kafka::LogSpan& span, UnixMs* written_at) {
        *written_at = kWrittenAt[span.partition];
        return FirstRecord::kRead;
      },
      [&left] { return left-- > 0; });
  EXPECT_EQ(oldest.written_at, 9'000);
  EXPECT_EQ(oldest.unread, 2u);
  const auto none = FindOldest({}, nullptr, InTime);
  EXPECT_FALSE(none.written_at);
  EXPECT_EQ(none.unread, 0u);
}

TEST(Lag, OfALogThatNobodyReadsIsToBeLookedAt) {
  LogFacts log = Log();
  log.members = 0;
  log.waiting = 0;
  log.committed = false;
  EXPECT_EQ(Judged(log).level, Level::kLook);
  EXPECT_EQ(Judged(log).advice, "start fanline-x");
  log.of_posts = false;  // an installation may do without relations
  EXPECT_EQ(Judged(log).level, Level::kNote);
  log.committed = true;
  EXPECT_EQ(Judged(log).level, Level::kLook);
  log.committed = false;
  log.waiting = 1;
  EXPECT_EQ(Judged(log).level, Level::kLook);
}

TEST(Lag, OfATopicThatIsMissingOrAway) {
  LogFacts log = Log();
  log.exists = false;
  EXPECT_EQ(Judged(log).advice, "feedctl topics create");
  EXPECT_EQ(Judged(log).level, Level::kLook);
  log.away = {"cannot reach Kafka", "start it"};
  EXPECT_EQ(Judged(log).level, Level::kAway);
  EXPECT_EQ(Judged(log).text, "cannot reach Kafka");
  EXPECT_EQ(Judged(log).advice, "start it");
  log.asked = false;
  EXPECT_EQ(Judged(log).level, Level::kNote);
  EXPECT_EQ(Judged(log).text, "not known: Kafka is away");
}

}  // namespace
}  // namespace fanline::feedctl
