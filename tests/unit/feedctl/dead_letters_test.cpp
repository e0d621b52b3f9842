#include <gmock/gmock.h>

#include "fanline/wire/relation_log.h"
#include "fanline/wire/relation_retry.h"
#include "feedctl/dead_letters/letter.h"
#include "feedctl/dead_letters/replay_plan.h"
#include "feedctl/dead_letters/replayer.h"
#include "feedctl/dead_letters/selection.h"
#include "feedctl/support/failure.h"

namespace fanline::feedctl {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

const std::vector<LetterTopic> kTopics = LetterTopics({});
const RangeLayout kLayout{4};

// A letter of the topic at partition 3, offset 17.
Letter Of(const std::string& source, std::string value, Headers headers = {}) {
  Record record{source + ".dlq", 3, 17, 1'000, "7", std::move(value), std::move(headers)};
  record.headers.emplace_back(kReasonHeader, "it cannot be");
  record.headers.emplace_back(kStageHeader, "tester");
  record.headers.emplace_back(kOriginHeader, source + "/1/4711");
  record.headers.emplace_back(kFirstAppendedHeader, "900");
  return LetterOf(RequireLetterTopic(source, kTopics), std::move(record));
}

std::string Complaint(const std::function<void()>& call) {
  try {
    call();
  } catch (const Failure& failure) {
    return std::to_string(failure.exit_code()) + ": " + failure.what();
  }
  return "";
}

TEST(DeadLetters, EachTopicsRecordsAreReadByItsOwnCodec) {
  const UserId ann{5}, bob{7};
  const std::pair<Letter, const char*> kTable[] = {
      {Of("feed-events",
          R"({"schema_version":1,"type":"post.deleted","post_id":"77","author_id":"5"})"),
       "post.deleted post 77 of author 5"},
      {Of("feed-events",
          R"({"schema_version":1,"type":"post.published","post_id":"78","author_id":"9",)"
          R"("created_at_ms":1000000000000,"repost_of":{"post_id":"77","author_id":"5"}})"),
       "post.published post 78 of author 9, created 2001-09-09T01:46:40.000Z, shows post 77 of "
       "author 5"},
      {Of("fanout-tasks", EncodeHint(Hint::OfPost(ann, PostId{77}))), "hint: post 77 of author 5"},
      {Of("fanout-tasks", EncodeHint(Hint::OfSync(bob, ann))), "hint: reader 7, author 5"},
      {Of("relation-log", EncodeRelationMessage(EdgeWritten{{ann, bob, 3, true, 1}, 9})),
       "5 -> 7 follows, version 3"},
      {Of("relation-log", EncodeRelationMessage(EdgeMirrored{{ann, bob}, 3})),
       "5 -> 7 mirrored, version 3"},
      {Of("relation-log.retry", EncodeRelationRetry({{ann, bob}, {{3}, false}, 1, 0})),
       "check of 5 -> 7, version 3"},
      {Of("relation-events",
          R"({"schema_version":1,"type":"relation.unfollow","src":"5","dst":"7","version":2})"),
       "relation.unfollow 5 -> 7, version 2"}};
  for (const auto& [letter, summary] : kTable) {
    EXPECT_EQ(Summary(letter), summary);
    EXPECT_EQ(ToJson(letter, true)["bytes"], nullptr) << "the summary says it";
  }
}

TEST(DeadLetters, WhatNobodyReadsIsToldByItsSizeAndInFullByItsBytes) {
  const Letter letter = Of("fanout-tasks", "\xff\xfe");
  EXPECT_EQ(Summary(letter), "no hint, 2 bytes");
  EXPECT_THAT(ToText(letter, false), Not(HasSubstr("fffe")));
  EXPECT_THAT(ToText(letter, true), HasSubstr("bytes fffe\n"));
  EXPECT_EQ(ToJson(letter, true)["bytes"], "fffe");
  const Letter large = Of("fanout-tasks", std::string(5000, '\xff'));
  EXPECT_EQ(ToJson(large, true)["bytes"].get<std::string>().size(), 2u * 4096 + 3);
}

TEST(DeadLetters, OnlyIdsAndOurHeadersAreShown) {
  const Letter letter =
      Of("feed-events", "", {{"authorization", "Bearer x"}, {"ce_type", "post\x1b[2J"}});
  EXPECT_THAT(ToText(letter, true),
              AllOf(HasSubstr("\"authorization\": (8 bytes, not shown)\n"),
                    HasSubstr("\"ce_type\": post?[2J\n"), HasSubstr("key 7\n")));
  EXPECT_EQ(ToJson(letter, true)["headers"][0]["value"], "(8 bytes, not shown)");
  EXPECT_FALSE(ToJson(letter, false).contains("headers"));
  const Record of_edge{"relation-log.dlq", 3, 17, 1, "5:7", {}, {}};
  EXPECT_EQ(ToJson(LetterOf(kTopics[2], of_edge), true)["key"], "5:7");
  Record record{"feed-events.dlq", 3, 17, 1, "ann@example.org", {}, {{kReasonHeader, "a\nb"}}};
  const Letter other = LetterOf(kTopics[0], record);
  EXPECT_EQ(other.reason, "a?b");
  EXPECT_THAT(ToJson(other, true)["key"].get<std::string>(), StartsWith("0x616e"));
}

TEST(DeadLetters, AMarkNamesALetterOfItsPartition) {
  const auto marked = [](const LogPlace& letter, int32_t partition = 3) {
    Record record{"feed-events.dlq", partition, 20, 1, {}, {}, MarkOf(letter)};
    return MarkedOffset(record);
  };
  EXPECT_EQ(marked({"feed-events.dlq", 3, 17}), 17);
  EXPECT_EQ(marked({"feed-events.dlq", 3, 17}, 4), std::nullopt);
  EXPECT_EQ(marked({"fanout-tasks.dlq", 3, 17}), std::nullopt);
  EXPECT_EQ(MarkedOffset(Of("feed-events", "{}").record), std::nullopt);
  EXPECT_EQ(MarkedOffset(Of("feed-events", "{}", MarkOf({"feed-events.dlq", 3, 17})).record),
            std::nullopt)
      << "a record with such a header that became a letter is a letter";
}

TEST(DeadLetters, PlacesAreALetterOrARangeOfThem) {
  const LetterPlaces one = RequirePlaces("feed-events.dlq/3/17", kTopics);
  const LetterPlaces some = RequirePlaces("feed-events.dlq/3/17-40", kTopics);
  EXPECT_TRUE(one.Holds({"feed-events.dlq", 3, 17}));
  EXPECT_FALSE(one.Holds({"feed-events.dlq", 3, 18}));
  EXPECT_TRUE(some.Holds({"feed-events.dlq", 3, 40}));
  EXPECT_FALSE(some.Holds({"feed-events.dlq", 3, 41}));
  EXPECT_FALSE(some.Holds({"feed-events.dlq", 4, 17}));
  EXPECT_FALSE(some.Holds({"fanout-tasks.dlq", 3, 17}));
  for (const char* text :
       {"", "17", "feed-events.dlq", "feed-events.dlq/3", "feed-events.dlq/3/17-",
        "feed-events.dlq/3/40-17", "feed-events/3/17"}) {
    EXPECT_THAT(Complaint([&] { (void)RequirePlaces(text, kTopics); }), HasSubstr("64: <letter>"))
        << text;
  }
}

TEST(DeadLetters, ASelectionGoesByPlaceReasonAndTime) {
  const Letter letter = Of("feed-events", "{}");
  const auto takes = [&](Selection selection) { return selection.Takes(letter); };
  EXPECT_TRUE(takes({kTopics}));
  EXPECT_TRUE(takes({kTopics, {}, "cannot"}));
  EXPECT_FALSE(takes({kTopics, {}, "can not"}));
  EXPECT_TRUE(takes({kTopics, {}, "", 1'000}));
  EXPECT_FALSE(takes({kTopics, {}, "", 1'001}));
  EXPECT_TRUE(takes({kTopics, {RequirePlaces("feed-events.dlq/3/17", kTopics)}}));
  EXPECT_FALSE(takes({kTopics, {RequirePlaces("feed-events.dlq/3/18", kTopics)}}));
}

// Marks stand behind their letters, so a partition is read from the first letter to its end.
TEST(DeadLetters, OnlyWhatMayMatterIsRead) {
  const Selection selection{kTopics,
                            {RequirePlaces("feed-events.dlq/3/17", kTopics),
                             RequirePlaces("feed-events.dlq/3/40-50", kTopics)}};
  const auto from = [&](const std::string& topic, int32_t partition) {
    return selection.Narrowed(topic, {partition, 5, 60}).from;
  };
  EXPECT_EQ(from("feed-events.dlq", 3), 17);
  EXPECT_EQ(from("feed-events.dlq", 4), 60);
  EXPECT_EQ(from("fanout-tasks.dlq", 3), 60);
  EXPECT_EQ(selection.Narrowed("feed-events.dlq", {3, 20, 60}).from, 20);
}

TEST(DeadLetters, AnEventIsAppendedAgainAndSaysSo) {
  const Letter letter =
      Of("feed-events", "{}", {{"app", "x"}, {kReplayHeader, "feed-events.dlq/3/2"}});
  EXPECT_EQ(letter.came_back, 1u);
  const ReplayPlan plan = PlanOf(letter, kLayout);
  const auto& again = std::get<AppendAgain>(plan);
  EXPECT_EQ(again.topic, "feed-events");
  EXPECT_THAT(
      again.headers,
      ElementsAre(Pair("app", "x"), Pair(kReplayHeader, "feed-events.dlq/3/2"),
                  Pair(kFirstAppendedHeader, "900"), Pair(kReplayHeader, "feed-events.dlq/3/17")));
}

// The mirror works by log1 alone, and the rows may have changed since.
TEST(DeadLetters, AMessageOfRelationLogIsReplayedAsACheckOfItsEdge) {
  const EdgeKey edge{UserId{5}, UserId{7}};
  for (const RelationMessage& message :
       {RelationMessage(EdgeWritten{{edge.src, edge.dst, 3, true, 1}, 9}),
        RelationMessage(EdgeMirrored{edge, 3})}) {
    const ReplayPlan plan = PlanOf(Of("relation-log", EncodeRelationMessage(message)), kLayout);
    const auto& check = std::get<AppendAgain>(plan);
    EXPECT_EQ(check.topic, "relation-log.retry");
    EXPECT_EQ(check.key, "5:7");
    const auto entry = std::get<RelationRetry>(DecodeRelationRetry(check.value));
    EXPECT_EQ(entry.edge, edge);
    EXPECT_EQ(entry.claim, (EdgeClaim{{3}, false})) << "what it said may be older than the rows";
    EXPECT_EQ(entry.due, 0);
    EXPECT_THAT(check.headers, Contains(Pair(kReplayHeader, "relation-log.dlq/3/17")));
  }
}

// The record was one range's, and may carry the sample of that day's publish.
TEST(DeadLetters, OfAHintItsCauseIsAnnouncedAnew) {
  const UserId ann{5}, bob{7};
  const Letter post =
      Of("fanout-tasks", EncodeHint(Hint::OfPost(ann, PostId{77}, DeliverySample{3, 4, 1, 2})));
  const auto of_post = std::get<HintAnew>(PlanOf(post, kLayout));
  EXPECT_EQ(of_post.hint, Hint::OfPost(ann, PostId{77}));
  EXPECT_THAT(of_post.ranges, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(of_post.headers, Not(Contains(Key(std::string(kReasonHeader)))));

  const Letter sync = Of("fanout-tasks", EncodeHint(Hint::OfSync(bob, ann)));
  const auto of_sync = std::get<HintAnew>(PlanOf(sync, kLayout));
  EXPECT_THAT(of_sync.ranges, ElementsAre(kLayout.RangeOf(bob)));
}

TEST(DeadLetters, WhatCannotBeReplayedSaysWhy) {
  const auto why = [](const Letter& letter) {
    return std::get<CannotReplay>(PlanOf(letter, kLayout)).why;
  };
  EXPECT_THAT(why(Of("fanout-tasks", "\xff")), HasSubstr("nothing is missing"));
  EXPECT_THAT(why(Of("feed-events", "", {{kOmittedHeader, "too large"}})),
              HasSubstr("may still be at feed-events/1/4711"));
  EXPECT_THAT(why(Of("relation-log", "")), HasSubstr("the row of log1"));
}

// Brokers that answer at once.
struct ReplayWorld : Serves<AppendHints> {
  void Submit(AppendHints request, ReplyTo<HintsAppended> to) override {
    hints.push_back(request);
    to({request.id, answer});
  }
  void Replay(const Letter& letter) { replayer.Take(letter, PlanOf(letter, kLayout)); }

  Status answer;
  std::vector<AppendHints> hints;
  std::vector<Record> records, marks;  // appended
  std::vector<Status> told;
  Replayer replayer{[this](const std::string& topic, int32_t partition, const std::string& key,
                           const std::string& value, const Headers& headers, auto reply) {
                      (topic.ends_with(".dlq") ? marks : records)
                          .push_back({topic, partition, 0, 0, key, value, headers});
                      reply(answer);
                    },
                    *this, [this](const Letter&, const Status& status) { told.push_back(status); }};
};

TEST(Replayer, ALetterIsMarkedBehindItselfOnceItsRecordIsAcknowledged) {
  ReplayWorld w;
  w.Replay(Of("feed-events", "{}"));
  EXPECT_THAT(w.marks, ElementsAre());
  w.replayer.Finish();
  ASSERT_EQ(w.records.size(), 1u);
  EXPECT_EQ(w.records[0].topic, "feed-events");
  EXPECT_EQ(w.records[0].partition, -1);
  EXPECT_EQ(w.records[0].key, "7");
  EXPECT_EQ(w.records[0].value, "{}");
  ASSERT_EQ(w.marks.size(), 1u);
  EXPECT_EQ(w.marks[0].partition, 3);
  EXPECT_EQ(MarkedOffset(w.marks[0]), 17);
  ASSERT_EQ(w.told.size(), 1u);
  EXPECT_TRUE(w.told[0].done());
}

TEST(Replayer, WhatIsNotAcknowledgedIsNotMarkedAndIsTold) {
  ReplayWorld w;
  w.answer = Status::Later("kafka", "away");
  w.Replay(Of("feed-events", "{}"));
  w.Replay(Of("fanout-tasks", EncodeHint(Hint::OfSync(UserId{7}, UserId{5}))));
  w.replayer.Finish();
  EXPECT_THAT(w.marks, ElementsAre());
  EXPECT_EQ(w.replayer.failure().message, "away");
  ASSERT_EQ(w.told.size(), 2u);
  EXPECT_TRUE(w.told[1].later());

  w.answer = {};
  w.Replay(Of("fanout-tasks", EncodeHint(Hint::OfSync(UserId{7}, UserId{5}))));
  w.replayer.Finish();
  EXPECT_EQ(w.hints.size(), 2u) << "the one that failed stands for no other";
  EXPECT_EQ(w.marks.size(), 1u);
}

TEST(Replayer, LettersOfOneHintShareAReplay) {
  ReplayWorld w;
  const Letter letter = Of("fanout-tasks", EncodeHint(Hint::OfPost(UserId{5}, PostId{77})));
  for (int i = 0; i < 3; ++i) w.Replay(letter);
  w.replayer.Finish();
  w.Replay(letter);
  w.Replay(Of("fanout-tasks", EncodeHint(Hint::OfSync(UserId{77}, UserId{5}))));
  w.replayer.Finish();
  ASSERT_EQ(w.hints.size(), 2u);
  EXPECT_EQ(w.hints[0].hints.size(), 4u);
  EXPECT_EQ(w.marks.size(), 5u);
}

}  // namespace
}  // namespace fanline::feedctl
