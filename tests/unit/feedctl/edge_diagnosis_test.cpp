#include "feedctl/relations/edge_diagnosis.h"

#include <gmock/gmock.h>

namespace fanline::feedctl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr EdgeState kNone{}, kFollows{20, true, 2}, kEnded{20, false, 2}, kOlder{10, true, 1},
    kMuted{20, true, 2, Delivery::kNone};
constexpr const char* kFollow = "PUT /v1/users/5/following/7";
constexpr const char* kUnfollow = "DELETE /v1/users/5/following/7";

EdgeSeen Seen(const EdgeState& forward, const EdgeState& reverse) {
  return {.edge = {UserId{5}, UserId{7}}, .forward = forward, .reverse = reverse};
}

TEST(EdgeDiagnosis, EqualRowsAgree) {
  EXPECT_EQ(Diagnosis(Seen(kFollows, kFollows)), "both rows agree");
  EXPECT_THAT(Diagnosis(Seen(kNone, kNone)), HasSubstr("no row on either side"));
  EXPECT_TRUE(Seen(kEnded, kEnded).agree());
  EXPECT_FALSE(Seen(kEnded, kFollows).agree());
  EXPECT_FALSE(Seen(kFollows, {20, true, 3}).agree());
}

TEST(EdgeDiagnosis, AFriendshipThatWaitsIsSaidOfEqualRows) {
  EdgeSeen seen = Seen(kNone, kNone);
  seen.friendship_waiting = true;
  EXPECT_THAT(Diagnosis(seen), HasSubstr("waits for a running fanline-mirror"));
}

TEST(EdgeDiagnosis, WhatStillWaitsNeedsNobody) {
  EdgeSeen waiting = Seen(kFollows, kNone);
  waiting.changes_waiting = 1;
  EXPECT_THAT(Diagnosis(waiting), HasSubstr("waits in log1 for a running fanline-mirror"));
  EdgeSeen changing = Seen(kFollows, kNone);
  changing.settled = false;
  EXPECT_THAT(Diagnosis(changing), HasSubstr("being changed at this moment"));
  EdgeSeen unseen = Seen(kFollows, kNone);
  unseen.all_seen = false;
  EXPECT_THAT(Diagnosis(unseen), HasSubstr("more changes wait in log1 than were looked at"));
}

// Which requests set right what nobody else will.
TEST(EdgeDiagnosis, BrokenRowsAreWrittenAnewByFollowAndUnfollow) {
  const std::string follow = kFollow, unfollow = kUnfollow;
  const struct {
    EdgeState forward, reverse;
    std::string requests;
  } kTable[] = {
      {kFollows, kNone, "got lost; " + unfollow + " and then " + follow + " makes"},
      {kFollows, kOlder, "got lost; " + unfollow + " and then " + follow + " makes"},
      {kEnded, kOlder, "got lost; " + follow + " and then " + unfollow + " makes"},
      // At one version the forward row's state wins, under a new one.
      {kFollows, kEnded, unfollow + " and then " + follow + " rewrites both"},
      {kEnded, kFollows, follow + " and then " + unfollow + " rewrites both"},
      // The reverse row's state wins.
      {kNone, kFollows, "is right, " + follow + " rewrites both"},
      {kNone, kEnded, follow + " and then " + unfollow + " rewrites both"},
      {kOlder, kFollows, unfollow + " and then " + follow + " rewrites both"},
      {kOlder, kEnded, "is right, " + unfollow + " rewrites both"},
      {kMuted, kFollows,
       follow + " and then PATCH there with {\"delivery\":\"none\"} rewrites both"},
  };
  for (const auto& [forward, reverse, requests] : kTable) {
    EXPECT_THAT(Diagnosis(Seen(forward, reverse)), HasSubstr(requests));
  }
}

TEST(EdgeDiagnosis, AChoiceThatNobodyKnowsIsMadeAnew) {
  const EdgeState odd{20, true, 2, StoredDelivery(7)};
  for (const EdgeState& reverse : {odd, kFollows, kNone}) {
    EXPECT_FALSE(Seen(odd, reverse).agree());
    EXPECT_THAT(Diagnosis(Seen(odd, reverse)),
                HasSubstr("PATCH /v1/users/5/following/7 with {\"delivery\":\"all\"}"));
  }
  EXPECT_THAT(Diagnosis(Seen(kOlder, odd)), Not(HasSubstr("PATCH")))
      << "no such choice can be made";
  const EdgeState older{10, true, 1, StoredDelivery(7)};
  EXPECT_THAT(Diagnosis(Seen(older, kFollows)), HasSubstr("is behind the reverse row"));
  const EdgeState ended{20, false, 2, StoredDelivery(7)};
  EXPECT_THAT(Diagnosis(Seen(ended, ended)), HasSubstr("are ended and bring 7, a number"));
}

}  // namespace
}  // namespace fanline::feedctl
