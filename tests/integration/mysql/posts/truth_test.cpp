// MysqlTruth on real shards: what the kinds of requests answer.
#include "backends/mysql/posts/truth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/mysql/shards.h"
#include "tests/integration/replies.h"
#include "tests/unit/seeded.h"

namespace fanline::mysql {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// SELECTs of 200 syncs of one author that wait together: five statements a batch, three batches at
// most, and what connections ask of their own. Each by itself they would be 1,000.
constexpr int64_t kFewOfSyncs = 60;

class TruthTest : public ::testing::Test {
 protected:
  template <class R>
  typename R::Reply Ask(R request) {
    return fanline::Ask(truth_, std::move(request));
  }

  // SELECTs that this server has answered.
  int64_t Selects(Shard shard) {
    return shards_.Number(shard,
                          "SELECT CAST(variable_value AS INT) FROM "
                          "information_schema.global_status WHERE variable_name = 'COM_SELECT'");
  }

  Shards shards_;
  const RangeLayout layout_{16};
  Replies<PostStates> states_;
  Replies<FollowerPage> pages_;
  Replies<SyncTruth> syncs_;
  MysqlTruth truth_{shards_.config(), {}, kNoLog, {shards_.map(), layout_}};
  uint64_t last_id_ = 0;
};

PostState Published(UnixMs created_at) {
  PostState state;
  state.created_at = created_at;
  return state;
}

TEST_F(TruthTest, APostWithoutARowReadsAsNotVisible) {
  const UserId author = shards_.UserOn(0, 1);
  shards_.PutPost(author, PostId{7}, Published(1000));
  const auto page = Ask(ReadPostStates{.author = author, .posts = {PostId{9}, PostId{7}}});
  ASSERT_TRUE(page.status.done());
  ASSERT_EQ(page.posts.size(), 2u);
  EXPECT_FALSE(page.posts[0].visible());
  EXPECT_EQ(page.posts[1].created_at, 1000);
  EXPECT_TRUE(page.posts[1].visible());
}

TEST_F(TruthTest, EveryColumnOfAPostArrives) {
  const UserId author = shards_.UserOn(1, 1);
  const PostState state{.created_at = 123,
                        .deleted = true,
                        .hidden = true,
                        .pushed = false,
                        .visibility_version = UINT64_MAX - 1,
                        .edit_version = 5};
  shards_.PutPost(author, PostId{UINT64_MAX - 1}, state);
  const auto page = Ask(ReadPostStates{.author = author, .posts = {PostId{UINT64_MAX - 1}}});
  ASSERT_EQ(page.posts.size(), 1u);
  EXPECT_EQ(page.posts[0].created_at, 123);
  EXPECT_TRUE(page.posts[0].deleted);
  EXPECT_TRUE(page.posts[0].hidden);
  EXPECT_FALSE(page.posts[0].pushed);
  EXPECT_EQ(page.posts[0].visibility_version, UINT64_MAX - 1);
  EXPECT_EQ(page.posts[0].edit_version, 5u);
}

TEST_F(TruthTest, FollowersComeFromTheAuthorsShardAndOnlyFromTheRangeAsked) {
  for (const Shard shard : {0u, 1u}) {
    const UserId author = shards_.UserOn(shard, 1);
    std::vector<UserId> readers;
    for (uint64_t raw = 100; raw < 300; ++raw) readers.push_back(UserId{raw});
    shards_.PutFollowers(author, readers);
    size_t met = 0;
    for (Range range = 0; range < 16; ++range) {
      const auto page =
          Ask(ReadFollowerPage{.range = range, .author = author, .after = {}, .limit = 500});
      for (const UserId reader : page.followers) EXPECT_EQ(layout_.RangeOf(reader), range);
      met += page.followers.size();
    }
    EXPECT_EQ(met, 200u);
  }
}

TEST_F(TruthTest, EachOfManyRequestsAtOnceIsAnsweredOnceAndAsIfAlone) {
  testing::Seeded seeded;
  std::vector<UserId> authors;
  for (uint64_t n = 1; n <= 20; ++n) {
    authors.push_back(UserId{n});
    std::vector<UserId> readers;
    for (uint64_t raw = 0; raw < n * 10; ++raw) readers.push_back(UserId{1000 + raw});
    shards_.PutFollowers(UserId{n}, readers);
    shards_.PutPost(UserId{n}, PostId{n}, Published(static_cast<UnixMs>(n)));
  }
  std::vector<ReadFollowerPage> pages;
  std::vector<ReadSync> syncs;
  for (int i = 0; i < 2000; ++i) {
    const UserId author = authors[seeded.Below(authors.size())];
    if (seeded.OneIn(3)) {
      syncs.push_back({++last_id_, UserId{1000 + seeded.Below(300)}, author, {}, 5});
      truth_.Submit(syncs.back(), syncs_);
    } else {
      const auto range = static_cast<Range>(seeded.Below(16));
      pages.push_back({++last_id_, range, author, std::nullopt, 50});
      truth_.Submit(ReadPostStates{last_id_, author, {PostId{Raw(author)}}}, states_);
      truth_.Submit(pages.back(), pages_);
    }
  }
  for (const ReadFollowerPage& request : pages) {
    const auto states = states_.Await(request.id);
    ASSERT_TRUE(states.status.done()) << states.status.message;
    EXPECT_EQ(states.posts.at(0).created_at, static_cast<UnixMs>(Raw(request.author)));
    const auto page = pages_.Await(request.id);
    ASSERT_TRUE(page.status.done()) << page.status.message;
    size_t expected = 0;
    for (uint64_t raw = 0; raw < Raw(request.author) * 10; ++raw) {
      expected += layout_.RangeOf(UserId{1000 + raw}) == request.range;
    }
    EXPECT_EQ(page.followers.size(), expected);
  }
  for (const ReadSync& request : syncs) {
    const auto truth = syncs_.Await(request.id);
    ASSERT_TRUE(truth.status.done()) << truth.status.message;
    EXPECT_EQ(truth.following, Raw(request.reader) < 1000 + Raw(request.author) * 10);
  }
}

// Units of many authors that wait together are read together, and the server is asked once whether
// it is the primary.
TEST_F(TruthTest, PostsAndFollowersThatWaitTogetherAreAFewStatements) {
  constexpr Shard kShard = 1;
  std::vector<UserId> authors;
  for (uint64_t nth = 1; nth <= 100; ++nth) {
    authors.push_back(shards_.UserOn(kShard, nth));
    shards_.PutPost(authors.back(), PostId{nth}, Published(static_cast<UnixMs>(nth)));
    shards_.PutFollowers(authors.back(), {UserId{1000}});
  }
  const int64_t before = Selects(kShard);
  shards_.on(kShard).Execute("LOCK TABLES author_post WRITE, follower WRITE");  // the first wait
  const Range range = layout_.RangeOf(UserId{1000});
  for (uint64_t nth = 1; nth <= 100; ++nth) {
    truth_.Submit(ReadPostStates{nth, authors[nth - 1], {PostId{nth}}}, states_);
    truth_.Submit(ReadFollowerPage{nth, range, authors[nth - 1], std::nullopt, 500}, pages_);
  }
  shards_.on(kShard).Execute("UNLOCK TABLES");
  for (uint64_t nth = 1; nth <= 100; ++nth) {
    EXPECT_EQ(states_.Await(nth).posts.at(0).created_at, static_cast<UnixMs>(nth));
    EXPECT_THAT(pages_.Await(nth).followers, ElementsAre(UserId{1000}));
  }
  EXPECT_LE(Selects(kShard) - before, 30) << "each by itself they would be 400";
}

// Syncs of one author that wait together, as under a pusher, are read together.
TEST_F(TruthTest, SyncsOfOneAuthorThatWaitTogetherAreAFewStatements) {
  constexpr Shard kShard = 1;
  const UserId author = shards_.UserOn(kShard, 1);
  std::vector<PostId> members;
  for (uint64_t n = 1; n <= 300; ++n) {
    shards_.PutPost(author, PostId{n}, Published(static_cast<UnixMs>(n)));
    members.push_back(PostId{n});
  }
  std::vector<UserId> followers;
  for (uint64_t raw = 2; raw <= 200; raw += 2) followers.push_back(UserId{raw});
  shards_.PutFollowers(author, followers);
  const int64_t before = Selects(kShard);
  shards_.on(kShard).Execute("LOCK TABLES follower WRITE");  // whoever is first waits for the rest
  const uint64_t first = last_id_ + 1;
  for (uint64_t raw = 1; raw <= 200; ++raw) {
    truth_.Submit(ReadSync{++last_id_, UserId{raw}, author, members, 450}, syncs_);
  }
  shards_.on(kShard).Execute("UNLOCK TABLES");
  for (uint64_t id = first; id <= last_id_; ++id) {
    const auto truth = syncs_.Await(id);
    ASSERT_TRUE(truth.status.done()) << truth.status.message;
    const bool follows = (id - first + 1) % 2 == 0;
    EXPECT_EQ(truth.following, follows);
    EXPECT_EQ(truth.visible.size(), follows ? 300u : 0u);
    EXPECT_EQ(truth.remove.size(), follows ? 0u : 300u);
  }
  EXPECT_LE(Selects(kShard) - before, kFewOfSyncs) << "each by itself they would be 1,000";
}

// Full timelines that have nothing in common: statements follow the author's posts, not theirs.
TEST_F(TruthTest, SyncsOfOneAuthorAreAFewStatementsWhateverTheTimelinesHold) {
  constexpr Shard kShard = 1;
  constexpr uint64_t kApart = 1'000'000;
  const UserId author = shards_.UserOn(kShard, 1);
  for (uint64_t n = 1; n <= 300; ++n) {
    PostState post = Published(static_cast<UnixMs>(n));
    post.deleted = n == 300;
    shards_.PutPost(author, PostId{n * kApart}, post);
  }
  std::vector<UserId> followers;
  for (uint64_t raw = 2; raw <= 200; raw += 2) followers.push_back(UserId{raw});
  shards_.PutFollowers(author, followers);

  const int64_t before = Selects(kShard);
  shards_.on(kShard).Execute("LOCK TABLES follower WRITE");  // whoever is first waits for the rest
  const uint64_t first = last_id_ + 1;
  for (uint64_t raw = 1; raw <= 200; ++raw) {
    std::vector<PostId> members{PostId{raw * kApart}, PostId{300 * kApart}};
    for (uint64_t n = 1; n <= 448; ++n) members.push_back(PostId{raw * kApart + n});
    truth_.Submit(ReadSync{++last_id_, UserId{raw}, author, members, 450}, syncs_);
  }
  shards_.on(kShard).Execute("UNLOCK TABLES");
  for (uint64_t raw = 1; raw <= 200; ++raw) {
    const auto truth = syncs_.Await(first + raw - 1);
    ASSERT_TRUE(truth.status.done()) << truth.status.message;
    if (truth.following) {
      EXPECT_THAT(truth.remove, ElementsAre(PostId{300 * kApart}));
    } else {
      EXPECT_THAT(truth.remove, ElementsAre(PostId{raw * kApart}, PostId{300 * kApart}));
    }
    EXPECT_EQ(truth.following, raw % 2 == 0);
  }
  EXPECT_LE(Selects(kShard) - before, kFewOfSyncs) << "each by itself they would be 1,000";
}

// An author with many posts as close together as those asked for: lists take over from the walk.
TEST_F(TruthTest, MembersAreFoundAmongAnyNumberOfTheAuthorsPosts) {
  constexpr uint64_t kPosts = 20'000;
  const UserId author = shards_.UserOn(0, 1);
  std::vector<PostId> his;
  std::string rows;
  for (uint64_t raw = 1; raw <= kPosts; ++raw) {
    const std::string id = std::to_string(raw);
    rows += (raw == 1 ? "(" : ",(") + ToString(author) + "," + id + ",'" + id + "',1,1)";
    if (raw % 60 == 0) his.push_back(PostId{raw});
  }
  shards_.on(0).Execute(
      "INSERT INTO author_post (author_id, post_id, member, created_at_ms, deleted) VALUES " +
      rows);
  shards_.PutPost(author, PostId{kPosts + 500}, {.created_at = 1, .deleted = true});
  std::vector<PostId> members = his;
  his.push_back(PostId{kPosts + 500});
  for (uint64_t raw = kPosts + 1; raw <= kPosts + 1'000; ++raw) members.push_back(PostId{raw});
  const int64_t before = Selects(0);
  const auto truth =
      Ask(ReadSync{.reader = UserId{9}, .author = author, .members = members, .window = 0});
  EXPECT_EQ(truth.remove, his);
  EXPECT_LE(Selects(0) - before, 1 + 1 + 5 + 6) << "edge, walk, lists of what is left; and its own";
}

TEST_F(TruthTest, AChangeCommittedBeforeSubmitIsAlwaysSeen) {
  const UserId author = shards_.UserOn(1, 3);
  for (uint64_t raw = 1; raw <= 200; ++raw) {
    const UserId reader{raw + 1'000'000};
    shards_.PutFollower(author, reader);
    EXPECT_TRUE(Ask(ReadSync{.reader = reader, .author = author, .members = {}}).following);
    shards_.PutFollower(author, reader, false);
    EXPECT_FALSE(Ask(ReadSync{.reader = reader, .author = author, .members = {}}).following);
  }
}

// World of a sync: author with posts 1 visible, 2 deleted, 3 hidden, 4 merged at read, 5 known by a
// delete only, 6 of another author, 8 and 9 visible and older; 7 nobody knows.
class SyncTruthTable : public TruthTest {
 protected:
  SyncTruthTable() {
    const auto state = [](UnixMs created_at, auto change) {
      PostState post = Published(created_at);
      change(post);
      return post;
    };
    shards_.PutPost(author_, PostId{1}, Published(100));
    shards_.PutPost(author_, PostId{2}, state(99, [](PostState& p) { p.deleted = true; }));
    shards_.PutPost(author_, PostId{3}, state(98, [](PostState& p) { p.hidden = true; }));
    shards_.PutPost(author_, PostId{4}, state(97, [](PostState& p) { p.pushed = false; }));
    shards_.PutPost(author_, PostId{5}, {.created_at = {}, .deleted = true});
    shards_.PutPost(other_, PostId{6}, Published(96));
    shards_.PutPost(author_, PostId{8}, Published(95));
    shards_.PutPost(author_, PostId{9}, Published(95));
    shards_.PutFollower(author_, reader_);
    shards_.PutFollower(author_, gone_, false);
  }

  SyncTruth AskAll(UserId reader, uint32_t window) {
    std::vector<PostId> members;
    for (uint64_t raw = 1; raw <= 9; ++raw) members.push_back(PostId{raw});
    return Ask(ReadSync{.reader = reader, .author = author_, .members = members, .window = window});
  }

  const UserId author_ = shards_.UserOn(0, 5);
  const UserId other_ = shards_.UserOn(0, 6);
  const UserId reader_{77}, gone_{78}, stranger_{79};
};

TEST_F(SyncTruthTable, WhoFollowsKeepsWhatIsVisibleAndLosesWhatIsNot) {
  const auto truth = AskAll(reader_, 10);
  EXPECT_TRUE(truth.following);
  EXPECT_THAT(truth.remove, UnorderedElementsAre(PostId{2}, PostId{3}, PostId{5}));
  EXPECT_THAT(truth.visible,
              ElementsAre(Item{PostId{1}, 100}, Item{PostId{8}, 95}, Item{PostId{9}, 95}));
  EXPECT_FALSE(truth.newest_unread);
}

TEST_F(SyncTruthTable, WhoUnfollowedLosesAllTheAuthorsPostsAndNobodyElses) {
  for (const UserId reader : {gone_, stranger_}) {
    const auto truth = AskAll(reader, 10);
    EXPECT_FALSE(truth.following);
    EXPECT_THAT(truth.remove, UnorderedElementsAre(PostId{1}, PostId{2}, PostId{3}, PostId{4},
                                                   PostId{5}, PostId{8}, PostId{9}));
    EXPECT_THAT(truth.visible, IsEmpty());
    EXPECT_FALSE(truth.newest_unread);
  }
}

TEST_F(SyncTruthTable, TheWindowSaysWhatWasLeftUnread) {
  auto truth = AskAll(reader_, 2);
  EXPECT_THAT(truth.visible, ElementsAre(Item{PostId{1}, 100}, Item{PostId{8}, 95}));
  EXPECT_EQ(truth.newest_unread, 95);
  truth = AskAll(reader_, 1);
  EXPECT_THAT(truth.visible, ElementsAre(Item{PostId{1}, 100}));
  EXPECT_EQ(truth.newest_unread, 95);
  truth = AskAll(reader_, 3);
  EXPECT_FALSE(truth.newest_unread);
}

TEST_F(SyncTruthTable, AFullTimelineOfMembersIsReadInParts) {
  std::vector<PostId> members;
  for (uint64_t raw = 1; raw <= 1300; ++raw) members.push_back(PostId{raw});
  for (uint64_t raw = 10; raw <= 1300; ++raw) {
    shards_.PutPost(author_, PostId{raw}, {.created_at = 1, .deleted = true});
  }
  const auto truth =
      Ask(ReadSync{.reader = reader_, .author = author_, .members = members, .window = 0});
  EXPECT_EQ(truth.remove.size(), 1300u - 9 + 3);
  EXPECT_EQ(truth.newest_unread, 100);
}

}  // namespace
}  // namespace fanline::mysql
