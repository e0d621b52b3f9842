// Two servers of the same requests: the fake that the simulation uses, and MariaDB with its
// adapters. Ids, versions and times are drawn from few values, so that requests meet each other's
// rows.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/fake_mysql.h"
#include "tests/integration/mysql/model/text.h"
#include "tests/integration/mysql/relation_shards.h"
#include "tests/integration/replies.h"
#include "tests/unit/seeded.h"

namespace fanline::mysql::model {

inline constexpr uint64_t kHuge = uint64_t{1} << 63;  // from here on a signed number is negative
inline constexpr uint32_t kMostFollowed = 4;
inline constexpr uint32_t kNoPageLimit = 1'000;

struct World {
  World() {
    // A few ids on both shards, with and without the highest bit.
    for (Shard shard = 0; shard < 2; ++shard) {
      for (uint64_t n = 1; n <= 3; ++n) users.push_back(shards.UserOn(shard, n));
    }
    for (uint64_t n = 0; n < 4; ++n) users.push_back(UserId{kHuge + n});
    for (const uint64_t raw : {1, 2, 9, 10, 11, 99, 100}) posts.push_back(PostId{raw});
    for (uint64_t n = 0; n < 4; ++n) posts.push_back(PostId{kHuge + n});
    posts.push_back(PostId{UINT64_MAX - 1});
    fake.relations.most_followed = kMostFollowed;
    fake.relations.now = std::chrono::duration_cast<std::chrono::milliseconds>(
                             std::chrono::system_clock::now().time_since_epoch())
                             .count();
  }

  uint64_t Below(uint64_t bound) { return draw.Below(bound); }
  bool OneIn(uint64_t n) { return draw.OneIn(n); }
  template <class T>
  const T& Of(const std::vector<T>& all) {
    return all[Below(all.size())];
  }
  Shard AnyShard() { return static_cast<Shard>(Below(shards.count())); }
  UserId User() { return Of(users); }
  UserId UserOn(Shard shard) {
    UserId user = User();
    while (shards.map().ShardOf(user) != shard) user = User();
    return user;
  }
  EdgeKey Edge() {
    EdgeKey edge{User(), User()};
    while (edge.dst == edge.src) edge.dst = User();
    return edge;
  }
  PostId Post() { return Of(posts); }
  std::vector<PostId> Posts(uint64_t most) {
    std::vector<PostId> some;
    for (uint64_t i = Below(most + 1); i > 0; --i) some.push_back(Post());
    return some;
  }
  uint64_t Version() { return OneIn(10) ? kHuge + Below(4) : 1 + Below(12); }
  UnixMs Time() { return OneIn(20) ? kMaxCreatedAt : static_cast<UnixMs>(1'000 + Below(12)); }

  // Ages are not compared to the second. This makes rows older in both, and leaves the clocks
  // alone.
  void PassAnHour() {
    fake.relations.now += std::chrono::milliseconds(std::chrono::hours(1)).count();
    for (Shard shard = 0; shard < shards.count(); ++shard) {
      shards.on(shard).Execute("UPDATE log1 SET ts = ts - INTERVAL 1 HOUR");
      for (const char* column : {"announced", "since", "weighed"}) {
        shards.on(shard).Execute(std::string("UPDATE author_mode SET ") + column + " = " + column +
                                 " - 3600000 WHERE " + column + " > 0");
      }
      // The fake has no limit of changes in an hour.
      shards.on(shard).Execute("UPDATE user_rel SET changes_until = 0");
    }
    ++hours;
  }

  // Gives a request to both servers, and compares their replies.
  template <class Server, class Real, class R>
  void Compare(Server& server, Real& real, const R& request) {
    const auto expected = server.Do(request);
    EXPECT_EQ(Text(Ask(real, request)), Text(expected));
  }
  // The same for requests that are queued together.
  template <class Server, class Real, class R>
  void CompareAll(Server& server, Real& real, std::vector<R> requests) {
    Replies<typename R::Reply> replies;
    for (uint64_t id = 0; id < requests.size(); ++id) {
      requests[id].id = id;
      real.Submit(requests[id], replies);
    }
    for (const R& request : requests) {
      EXPECT_EQ(Text(replies.Await(request.id)), Text(server.Do(request)));
    }
  }

  testing::Seeded draw;
  RelationShards shards;
  const RangeLayout layout{4};
  fakes::FakeMysql fake{layout, kNoPageLimit, shards.map()};
  std::vector<UserId> users;
  std::vector<PostId> posts;
  int64_t hours = 0;
};

}  // namespace fanline::mysql::model
