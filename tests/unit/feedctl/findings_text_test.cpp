#include "feedctl/auditing/findings_text.h"

#include <gmock/gmock.h>

namespace fanline::feedctl {
namespace {

using audit::Difference;
using audit::Findings;
using audit::Kind;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr UserId kReader{1}, kAuthor{7};
constexpr Item kItem{PostId{20}, 20, kAuthor};

TEST(FindingsText, EachDifferenceIsALineThatNamesReaderAndPost) {
  const auto text = [](Difference difference) {
    difference.reader = kReader;
    return ToText(difference);
  };
  EXPECT_EQ(text({.kind = Kind::kMissing, .item = kItem}),
            "reader 1: missing post 20, created 1970-01-01T00:00:00.020Z, of author 7");
  EXPECT_EQ(text({.kind = Kind::kExtra, .item = kItem}),
            "reader 1: extra post 20, created 1970-01-01T00:00:00.020Z, of author 7");
  EXPECT_EQ(
      text({.kind = Kind::kMissing, .item = {PostId{21}, 20, kAuthor, {PostId{3}, UserId{4}}}}),
      "reader 1: missing repost 21, created 1970-01-01T00:00:00.020Z, of author 7, shows "
      "post 3 of author 4");
  EXPECT_EQ(text({.kind = Kind::kMissingMark, .mark = {kAuthor}}),
            "reader 1: missing the mark of author 7");
  EXPECT_EQ(text({.kind = Kind::kExtraMark, .mark = {kAuthor}}),
            "reader 1: extra mark of author 7");
  EXPECT_EQ(text({.kind = Kind::kTooFew, .held = 1}),
            "reader 1: holds 1 item only, and has a floor");
  EXPECT_EQ(text({.kind = Kind::kMalformed, .problem = "WRONG\nTYPE"}),
            "reader 1: no timeline: \"WRONG?TYPE\"");
  EXPECT_THAT(text({.kind = Kind::kNotIndexed}), HasSubstr("not in the index of its range"));
  EXPECT_EQ(text({.kind = Kind::kMutes, .mutes = 5}),
            "reader 1: names version 5 of its reader's mutes, which is another");
  EXPECT_EQ(text({.kind = Kind::kMutes}),
            "reader 1: does not name the version of its reader's mutes");
}

TEST(FindingsText, TheReportHasEverySumAndTheDifferencesAndEndsWithTheVerdict) {
  Findings findings{.timelines = 1'234};
  EXPECT_THAT(ToText(findings, nullptr, 2),
              AllOf(HasSubstr("1,234  live timelines"), EndsWith("good, after 2.0 s\n")));
  EXPECT_THAT(ToJson(findings, nullptr, 2),
              AllOf(HasSubstr("\"timelines\":1234"), HasSubstr("\"good\":true"),
                    HasSubstr("\"examples\":[]")));
  findings.missing = 1;
  findings.differences.push_back({.reader = kReader, .kind = Kind::kMissing, .item = kItem});
  EXPECT_THAT(ToText(findings, nullptr, 2),
              AllOf(HasSubstr("reader 1: missing post 20"), EndsWith("NOT GOOD, after 2.0 s\n")));
  EXPECT_THAT(ToJson(findings, nullptr, 2),
              AllOf(HasSubstr("\"good\":false"), HasSubstr("missing post 20")));
}

TEST(FindingsText, AfterARepairTheVerdictIsAboutWhatIsLeft) {
  const Findings findings{.missing = 3};
  RepairResult repair{.wrong = 2, .in_flight = 1, .rebuilt = 1};
  EXPECT_THAT(ToText(findings, &repair, 2), AllOf(HasSubstr("rebuilt                      1"),
                                                  EndsWith("\ngood, after 2.0 s\n")));
  EXPECT_THAT(
      ToJson(findings, &repair, 2),
      AllOf(HasSubstr("\"missing\":3"), HasSubstr("\"good\":true"), HasSubstr("\"in_flight\":1")));
  repair.still_wrong = 1;
  EXPECT_FALSE(IsGood(findings, &repair));
  repair.still_wrong = 0;
  repair.left = 1;
  EXPECT_FALSE(IsGood(findings, &repair));
}

}  // namespace
}  // namespace fanline::feedctl
