// How feedctl doctor says what it found: lines, JSON, exit codes, pages.
#include <gmock/gmock.h>

#include "feedctl/doctor/judge.h"
#include "tests/unit/feedctl/doctor_facts.h"

namespace fanline::feedctl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Check kWell{"stores", "Redis", Level::kWell, "here", "never said", "never.md"};
const Check kNote{"stores", "Redis", Level::kNote, "dear"};
const Check kLook{"lag", "feed", Level::kLook, "late", "type this", "delivery.md#x"};
const Check kInit{"stores", "shard", Level::kInit, "empty", "feedctl init"};
const Check kUnfit{"stores", "shard", Level::kUnfit, "TiDB", "take another"};
const Check kAway{"lag", "tasks", Level::kAway, "gone"};

std::string Text(const Checks& checks) { return ToText(checks, "docs"); }

TEST(Checks, EndWithTheWorstOfThem) {
  EXPECT_EQ(ExitCodeOf({}), 0);
  EXPECT_EQ(ExitCodeOf({kWell, kNote}), 0);
  EXPECT_EQ(ExitCodeOf({kWell, kLook}), 1);
  EXPECT_EQ(ExitCodeOf({kInit, kLook, kWell}), 78);
  EXPECT_EQ(ExitCodeOf({kUnfit, kLook, kWell}), 78);
  EXPECT_EQ(ExitCodeOf({kLook, kAway, kInit, kUnfit, kWell}), 69);
}

TEST(Checks, SayWhatToTypeOnlyWhereItIsNeeded) {
  const std::string text = Text({kWell, kNote, kLook, kAway});
  EXPECT_THAT(text, HasSubstr("stores\n  ok    Redis"));
  EXPECT_THAT(text, HasSubstr("lag\n  LOOK  feed"));
  EXPECT_THAT(text, HasSubstr("-> type this\n"));
  EXPECT_THAT(text, HasSubstr("docs/runbooks/delivery.md#x\n"));
  EXPECT_THAT(text, Not(HasSubstr("never")));
  EXPECT_THAT(text, HasSubstr("1 thing could not be asked, 1 thing to look at\n"));
  EXPECT_THAT(Text({kWell, kNote}), HasSubstr("all is well\n"));
  EXPECT_THAT(Text({kLook, kLook}), HasSubstr("\n2 things to look at\n"));
  EXPECT_THAT(Text({kInit, kLook}), HasSubstr("\n  INIT  shard"));
  EXPECT_THAT(Text({kInit, kLook}),
              HasSubstr("\nfeedctl init has not been run, 1 thing to look at\n"));
  EXPECT_THAT(Text({kUnfit}), HasSubstr("\n  UNFIT shard"));
  EXPECT_THAT(Text({kUnfit}), HasSubstr("\na server cannot be a shard\n"));
}

TEST(Checks, AreOneLineEach) {
  EXPECT_THAT(Text({{"s", "n", Level::kWell, "a\nb\x1b[2J"}}), HasSubstr("a?b?[2J\n"));
}

TEST(Checks, StandInAColumnHoweverLongANameIs) {
  const std::string text = Text({{"lag", "a name of thirty characters ..", Level::kWell, "first"},
                                 {"lag", "short", Level::kLook, "second", "type"},
                                 {"stores", "short", Level::kWell, "third"}});
  EXPECT_THAT(text, HasSubstr("  ok    a name of thirty characters ..  first\n"));
  EXPECT_THAT(text, HasSubstr("  LOOK  short                           second\n"
                              "                                        -> type\n"));
  EXPECT_THAT(text, HasSubstr("  ok    short                   third\n"));
}

TEST(Checks, NamePagesWhereTheyAre) {
  EXPECT_THAT(ToText({kLook}, "/elsewhere"), HasSubstr("  /elsewhere/runbooks/delivery.md#x\n"));
  EXPECT_EQ(ToJson({kLook}, "/elsewhere")["checks"][0]["runbook"],
            "/elsewhere/runbooks/delivery.md#x");
}

TEST(Complaints, AreCutIntoWhatIsWrongAndWhatToType) {
  EXPECT_EQ(WhyOf("it is full; give it more; at once", "wait").text, "it is full");
  EXPECT_EQ(WhyOf("it is full; give it more; at once", "wait").advice, "give it more; at once");
  EXPECT_EQ(WhyOf("it is full", "wait").text, "it is full");
  EXPECT_EQ(WhyOf("it is full", "wait").advice, "wait");
}

TEST(Checks, AreJsonToo) {
  const Json json = ToJson({kNote, kLook, kWell, kInit, kUnfit}, "docs");
  EXPECT_EQ(json["well"], false);
  EXPECT_EQ(json["look"], 1);
  EXPECT_EQ(json["away"], 0);
  EXPECT_EQ(json["not_installed"], 1);
  EXPECT_EQ(json["unfit"], 1);
  EXPECT_EQ(json["checks"][0]["advice"], nullptr);
  EXPECT_EQ(json["checks"][1]["level"], "look");
  EXPECT_EQ(json["checks"][1]["runbook"], "docs/runbooks/delivery.md#x");
  EXPECT_EQ(json["checks"][2]["advice"], nullptr) << "all is well";
  EXPECT_EQ(json["checks"][2]["runbook"], nullptr);
  EXPECT_EQ(json["checks"][3]["level"], "not_installed");
  EXPECT_EQ(ToJson({kNote}, "docs")["well"], true);
}

TEST(Ranges, AreListedInRuns) {
  EXPECT_EQ(Listed({4}), "range 4");
  EXPECT_EQ(Listed({7, 3, 5, 6, 1}), "ranges 1, 3, 5-7");
  EXPECT_EQ(Listed({0, 1}), "ranges 0, 1");
  EXPECT_EQ(Listed("shard", {2, 0}), "shards 0, 2");
}

}  // namespace
}  // namespace fanline::feedctl
