// The reads behind one reader's timeline.
#pragma once

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "backends/mysql/posts/reader_truth.h"
#include "tests/integration/mysql/model/world.h"

namespace fanline::mysql::model {

struct Readers {
  World& world;

  fakes::FakeMysql& fake = world.fake;
  MysqlReaderTruth truth{world.shards.config(), world.shards.map()};

  std::string Draw() {
    const uint64_t dice = world.Below(100);
    if (dice < 20) return Followees();
    if (dice < 25) return Mutes();
    if (dice < 65) return Items();
    if (dice < 85) return Outbox();
    return LookUp();
  }

  // Reads like a rebuild: the followees of a reader, and when each posted last.
  std::string Followees() {
    const UserId reader = world.User();
    std::vector<UserId> got, expected = fake.Followees(reader);
    EXPECT_EQ(Text(truth.Followees(reader, &got)), "done");
    std::sort(got.begin(), got.end());
    EXPECT_EQ(got, expected);
    const auto again = truth.Ask(ReadFollowees{0, truth.map().ShardOf(reader), reader});
    EXPECT_EQ(again.authors.size(), expected.size());
    EXPECT_EQ(again.no_reposts, fake.NoReposts(reader));
    EXPECT_EQ(again.mutes.mark(), fake.relations.mutes(reader).mark());
    EXPECT_EQ(again.mutes.authors, fake.relations.mutes(reader).authors);
    expected.push_back(reader);
    std::vector<AuthorLastAt> last_at;
    EXPECT_EQ(Text(truth.LastAt(expected, &last_at)), "done");
    EXPECT_EQ(ByAuthor(last_at), ByAuthor(fake.LastAt(expected)));
    return "followees of " + ToString(reader);
  }
  std::string Mutes() {
    const UserId reader = world.User();
    const MutesRead got = truth.Ask(ReadMutes{0, truth.map().ShardOf(reader), reader});
    EXPECT_EQ(Text(got.status), "done");
    EXPECT_EQ(got.mutes, fake.relations.mutes(reader));
    return "mutes of " + ToString(reader);
  }

  static std::map<UserId, std::string> ByAuthor(const std::vector<AuthorLastAt>& all) {
    std::map<UserId, std::string> texts;
    for (const AuthorLastAt& one : all) {
      texts[one.author] = Words(one.last_at, one.marked, one.announced);
    }
    return texts;
  }

  TimeSpan AnySpan() {
    TimeSpan span;
    if (world.OneIn(3)) span.above = world.Time();
    if (world.OneIn(3)) span.up_to = world.Time();
    if (world.OneIn(3)) span.behind = Position{world.Time(), world.Post()};
    return span;
  }

  // The port leaves the order of authors open. The fake gets them in the adapter's order: pushed
  // posts first, of these the authors with reposts. All are of one shard, since each has the limit
  // for itself.
  std::string Items() {
    std::vector<PostsOf> posts;
    const ShardMap& map = world.shards.map();
    const auto shard = static_cast<Shard>(world.Below(map.shards()));
    for (const UserId author : world.users) {
      if (map.ShardOf(author) != shard) continue;
      const bool reposts = !world.OneIn(4);
      if (world.OneIn(3)) posts.push_back({author, true, reposts});
      if (world.OneIn(4)) posts.push_back({author, false, reposts});
    }
    std::sort(posts.begin(), posts.end(), [&](const PostsOf& a, const PostsOf& b) {
      const auto order = [](const PostsOf& of) {
        return std::tuple(!of.pushed, !of.reposts, of.author);
      };
      return order(a) < order(b);
    });
    const TimeSpan span = AnySpan();
    const auto limit = static_cast<uint32_t>(1 + world.Below(30));
    ItemsRead got;
    EXPECT_EQ(Text(truth.Items(posts, span, limit, &got)), "done");
    EXPECT_EQ(Text(got), Text(fake.Items(posts, span, limit)));
    EXPECT_EQ(Text(truth.Confirm()), "done");
    return "items";
  }

  std::string Outbox() {
    const UserId author = world.User();
    const TimeSpan span = AnySpan();
    const auto limit = static_cast<uint32_t>(1 + world.Below(6));
    const OutboxRead got =
        truth.Ask(ReadOutbox{0, truth.map().ShardOf(author), author, span, limit});
    EXPECT_EQ(Text(got.status), "done");
    EXPECT_EQ(Text(got.items), Text(fake.Outbox(author, span, limit)));
    return "outbox of " + ToString(author);
  }

  std::string LookUp() {
    const UserId user = world.OneIn(3) ? UserId{kHuge + 100 + world.Below(3)} : world.User();
    const UserLookedUp got = truth.Ask(LookUpUser{0, truth.map().ShardOf(user), user});
    EXPECT_EQ(Text(got.status), "done");
    const UserFacts expected = fake.LookUp(user);
    EXPECT_EQ(Words(got.facts.known, got.facts.follows), Words(expected.known, expected.follows));
    return "facts of " + ToString(user);
  }
};

}  // namespace fanline::mysql::model
