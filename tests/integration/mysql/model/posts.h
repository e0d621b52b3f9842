// Requests about posts and their authors: a dispatcher's writes and a pusher's reads.
#pragma once

#include <string>
#include <vector>

#include "backends/mysql/posts/author_modes.h"
#include "backends/mysql/posts/post_rows.h"
#include "backends/mysql/posts/post_store.h"
#include "backends/mysql/posts/truth.h"
#include "tests/integration/mysql/model/world.h"

namespace fanline::mysql::model {

struct Posts {
  World& world;

  const Config& config = world.shards.config();
  fakes::FakeMysql& fake = world.fake;
  MysqlPostStore store{config, HealthSink(), kNoLog};
  MysqlAuthorWeights weights{config, HealthSink(), kNoLog};
  MysqlTruth truth{config, HealthSink(), kNoLog, {world.shards.map(), world.layout}};

  std::string Draw() {
    const uint64_t dice = world.Below(100);
    if (dice < 45) return Apply();
    if (dice < 60) return ReadPages();
    if (dice < 78) return Sync();
    if (dice < 83) return SetMode();
    if (dice < 88) return SwitchMode();
    if (dice < 91) return Weigh();
    return Announce();
  }

  std::string Apply() {
    ApplyEvents request{0, world.AnyShard(), {}};
    for (uint64_t i = 1 + world.Below(6); i > 0; --i) {
      FeedEvent event{static_cast<EventKind>(world.Below(kEventKinds)), world.Post(),
                      world.UserOn(request.shard)};
      if (world.OneIn(2)) event.kind = EventKind::kPublished;
      const EventNumber number = TraitsOf(event.kind).number;
      if (number == EventNumber::kCreatedAt) event.created_at = world.Time();
      const bool repost = number == EventNumber::kCreatedAt && world.OneIn(3);
      if (repost) event.repost_of = {world.Post(), world.User()};
      if (number == EventNumber::kVersion) event.version = world.Version();
      request.events.push_back(event);
    }
    request.most_followers = static_cast<uint32_t>(world.Below(7));
    world.Compare(fake, store, request);
    return "events";
  }

  std::string ReadPages() {
    std::vector<ReadPostStates> states;
    std::vector<ReadFollowerPage> requests;
    for (uint64_t i = 1 + world.Below(5); i > 0; --i) {
      ReadFollowerPage request;
      request.range = static_cast<Range>(world.Below(world.layout.partitions()));
      request.author = world.User();
      ReadPostStates& asked = states.emplace_back();
      asked.posts = {{request.author, PostId{1}}};
      for (const PostId post : world.Posts(5)) asked.posts.emplace_back(request.author, post);
      request.limit = static_cast<uint32_t>(1 + world.Below(4));
      const UserId after = world.User();
      if (world.layout.RangeOf(after) == request.range) {
        request.after = FollowerCursor{BucketOf(after), after};
      }
      requests.push_back(request);
    }
    world.CompareAll(fake, truth, states);
    world.CompareAll(fake, truth, requests);
    return "states of posts and pages of followers";
  }

  std::string Sync() {
    std::vector<ReadSync> requests;
    for (uint64_t i = 1 + world.Below(5); i > 0; --i) {
      const EdgeKey key = world.Edge();
      requests.push_back({0, key.src, key.dst, static_cast<uint32_t>(world.Below(6))});
    }
    world.CompareAll(fake, truth, requests);
    return "syncs";
  }

  std::string SetMode() {
    const UserId author = world.User();
    if (world.OneIn(3)) {
      LeaveAuthorMode(world.shards.of(author), author);
      fake.LeaveMode(author);
      return "mode left of " + ToString(author);
    }
    const bool pull = world.OneIn(2);
    SetAuthorMode(world.shards.of(author), author, pull);
    fake.SetMode(author, pull);
    return "mode of " + ToString(author);
  }

  // Uses the present version or an older one, and asks for the opposite of the present mode.
  std::string SwitchMode() {
    const UserId author = world.User();
    const AuthorMode now = fake.ModeOf(author);
    SwitchAuthor request{0, world.shards.map().ShardOf(author), author, !now.pull, now.version};
    if (world.OneIn(3)) request.version = world.Below(now.version + 1);
    const AuthorSwitched expected = fake.Do(request), got = Ask(store, request);
    EXPECT_EQ(Words(got.status, got.switched), Words(expected.status, expected.switched));
    return "switch of " + ToString(author);
  }

  std::string Weigh() {
    const UserId author = world.User();
    const WeighAuthor request{0, world.shards.map().ShardOf(author), author, world.Version(),
                              std::chrono::milliseconds(world.Below(9))};
    EXPECT_EQ(Text(Ask(weights, request).status), Text(fake.Do(request).status));
    return "weight of " + ToString(author);
  }

  std::string Announce() {
    const UserId author = world.User();
    const AnnounceAuthor request{0, world.shards.map().ShardOf(author), author};
    EXPECT_EQ(Text(Ask(store, request).status), Text(fake.Do(request).status));
    return "announcement of " + ToString(author);
  }

  void CompareContents() {
    std::map<PostKey, std::string> rows, expected;
    for (Shard shard = 0; shard < world.shards.count(); ++shard) {
      world.shards.on(shard).Query(
          "SELECT author_id, post_id, created_at_ms, deleted, hidden, pushed, visibility_version,"
          " edit_version, original_id, original_author FROM author_post",
          [&](const Row& row) {
            const PostState state{row.OptionalInt64(3), row.Bool(4),   row.Bool(5),
                                  row.Bool(6),          row.UInt64(7), row.UInt64(8),
                                  OriginalOf(row, 9)};
            rows[{UserId{row.UInt64(1)}, PostId{row.UInt64(2)}}] = Text(state);
          });
    }
    for (const auto& [key, state] : fake.posts()) {
      expected[key] = Text(state);
    }
    EXPECT_EQ(rows, expected);
    for (const UserId user : world.users) {
      EXPECT_EQ(Text(ReadAuthorMode(world.shards.of(user), user)), Text(fake.ModeOf(user)))
          << ToString(user);
    }
  }
};

}  // namespace fanline::mysql::model
