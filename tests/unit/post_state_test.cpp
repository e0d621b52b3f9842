#include "fanline/model/post_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "tests/unit/seeded.h"

namespace fanline {
namespace {

constexpr PostId kPost{77};
constexpr UserId kAuthor{5};

FeedEvent Published(UnixMs at) { return {EventKind::kPublished, kPost, kAuthor, at, 0}; }
FeedEvent Deleted() { return {EventKind::kDeleted, kPost, kAuthor, 0, 0}; }
FeedEvent Hidden(uint64_t version) { return {EventKind::kHidden, kPost, kAuthor, 0, version}; }
FeedEvent Unhidden(uint64_t version) { return {EventKind::kUnhidden, kPost, kAuthor, 0, version}; }
FeedEvent Edited(uint64_t version) { return {EventKind::kEdited, kPost, kAuthor, 0, version}; }

PostState After(const std::vector<FeedEvent>& events) {
  PostState state;
  for (const auto& event : events) ApplyEvent(event, state);
  return state;
}

TEST(PostState, IsVisibleWhenPublishedUntilDeletedOrHidden) {
  struct Case {
    const char* what;
    std::vector<FeedEvent> events;
    bool visible;
  };
  const Case cases[] = {
      {"no event", {}, false},
      {"published", {Published(1000)}, true},
      {"only hidden", {Hidden(1)}, false},
      {"only unhidden", {Unhidden(1)}, false},
      {"only edited", {Edited(1)}, false},
      {"only deleted", {Deleted()}, false},
      {"published, deleted", {Published(1000), Deleted()}, false},
      {"deleted before it was published", {Deleted(), Published(1000)}, false},
      {"published again after the delete", {Published(1000), Deleted(), Published(2000)}, false},
      {"unhidden after the delete", {Published(1000), Deleted(), Unhidden(9)}, false},
      {"hidden", {Published(1000), Hidden(1)}, false},
      {"hidden before it was published", {Hidden(1), Published(1000)}, false},
      {"hidden, unhidden", {Published(1000), Hidden(1), Unhidden(2)}, true},
      {"an older hide arrives late", {Published(1000), Unhidden(2), Hidden(1)}, true},
      {"an older unhide arrives late", {Published(1000), Hidden(3), Unhidden(2)}, false},
      {"unhidden by the version that hid", {Published(1000), Hidden(2), Unhidden(2)}, false},
      {"an edit does not count for the visibility", {Published(1000), Edited(9), Hidden(1)}, false},
  };
  for (const auto& c : cases) EXPECT_EQ(After(c.events).visible(), c.visible) << c.what;
}

TEST(PostState, KeepsTheOriginalThatCameWithTheFirstCreatedAt) {
  const auto repost = [](UnixMs at, uint64_t original) {
    FeedEvent event = Published(at);
    event.repost_of = {PostId{original}, UserId{6}};
    return event;
  };
  EXPECT_EQ(After({repost(2000, 70), repost(1000, 71)}).original,
            (Original{PostId{70}, UserId{6}}));
  EXPECT_EQ(After({Hidden(1), repost(2000, 70)}).original, (Original{PostId{70}, UserId{6}}));
  EXPECT_FALSE(After({Published(2000), repost(1000, 71)}).original);
}

TEST(PostState, KeepsTheFirstCreatedAt) {
  EXPECT_EQ(After({Published(2000), Published(1000), Published(3000)}).created_at, 2000);
  EXPECT_EQ(After({Hidden(1), Deleted(), Published(2000)}).created_at, 2000);
}

TEST(PostState, KeepsTheHighestVersionOfEachKindApart) {
  const PostState state = After({Edited(5), Hidden(3), Edited(4), Unhidden(2)});
  EXPECT_EQ(state.edit_version, 5u);
  EXPECT_EQ(state.visibility_version, 3u);
}

TEST(PostState, LeavesWhetherItWasPushedAlone) {
  PostState state{.pushed = false};
  for (const auto& event : {Published(1), Hidden(1), Unhidden(2), Edited(1), Deleted()}) {
    ApplyEvent(event, state);
    EXPECT_FALSE(state.pushed);
  }
}

// One application's history of one post: every version is said once, all publishes carry the
// same time.
std::vector<FeedEvent> RandomHistory(fanline::testing::Seeded& random) {
  std::vector<FeedEvent> history{Published(static_cast<UnixMs>(1 + random.Below(1'000'000)))};
  const uint64_t versions = random.Below(6);
  for (uint64_t version = 1; version <= versions; ++version) {
    history.push_back(random.OneIn(2) ? Hidden(version) : Unhidden(version));
    if (random.OneIn(2)) history.push_back(Edited(version));
  }
  if (random.OneIn(3)) history.push_back(Deleted());
  return history;
}

std::vector<FeedEvent> ShuffledWithDuplicates(std::vector<FeedEvent> events,
                                              fanline::testing::Seeded& random) {
  for (size_t i = 0, n = events.size(); i < n; ++i) {
    while (random.OneIn(2)) events.push_back(events[i]);
  }
  std::shuffle(events.begin(), events.end(), random.engine());
  return events;
}

TEST(PostState, EndsTheSameInAnyOrderAndWithAnyDuplicates) {
  const auto all = [](const PostState& s) {
    return std::tuple(s.created_at, s.deleted, s.hidden, s.visibility_version, s.edit_version);
  };
  fanline::testing::Seeded random;
  for (int round = 0; round < 5'000; ++round) {
    const auto history = RandomHistory(random);
    const auto delivered = ShuffledWithDuplicates(history, random);
    ASSERT_EQ(all(After(delivered)), all(After(history)));
  }
}

}  // namespace
}  // namespace fanline
