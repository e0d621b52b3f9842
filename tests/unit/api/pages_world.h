// What the tests of pages do again and again.
#pragma once

#include <gmock/gmock.h>

#include <set>

#include "api/pages.h"
#include "tests/unit/api/world.h"

namespace fanline::api {

using nlohmann::json;

class PagesTest : public ::testing::Test {
 protected:
  void Follow(uint64_t src, uint64_t dst) {
    const uint64_t version = w_.posts.mysql.WriteForward(UserId{src}, UserId{dst}, true);
    w_.posts.mysql.ApplyReverse(UserId{src}, UserId{dst}, version, true);
  }
  void FollowAuthorOfOnePost() {
    Follow(5, 7);
    w_.Publish(7, 70, 1'000);
  }
  void SetAway(bool away) { w_.posts.away = away ? std::set<Shard>{0} : std::set<Shard>(); }
  // Instead of those that the world made.
  void ServeWith(Rebuilds& rebuilds, const Pages::Rules& rules = {},
                 const ShardMap* map = nullptr) {
    const auto clock = [this] { return now_; };
    w_.pages = std::make_unique<Pages>(*w_.exchanges, rebuilds, map ? *map : w_.map, w_.metrics,
                                       clock, rules);
    w_.handler = std::make_unique<Handler>(*w_.exchanges, *w_.pages, nullptr, w_.metrics, clock);
  }
  // Begins a page; its answer is added to `answers_`.
  void BeginHome(const std::string& user, Alive alive = {}) {
    Request request = RequestOf("GET /v1/users/" + user + "/timeline");
    request.alive = std::move(alive);
    w_.handler->Serve(request, [this](const Response& response) {
      answers_.push_back(json::parse(response.body));
    });
  }
  // Reads once, and waits until the timeline is live.
  void MakeLive(const std::string& user) {
    const int before = w_.metrics.rebuilt;
    EXPECT_EQ(Home(user)["state"], "building");
    w_.WaitUntilRebuilt(before + 1);
  }
  json Home(const std::string& user, const std::string& query = {}) {
    return w_.Json("GET /v1/users/" + user + "/timeline" + query);
  }

  const ShardMap two_ = ShardMap::Even(2);
  // The first user from there on who is on the other one of two shards.
  UserId Beyond(UserId user) const {
    UserId other{Raw(user) + 1};
    while (two_.ShardOf(other) == two_.ShardOf(user)) other = UserId{Raw(other) + 1};
    return other;
  }

  World w_;
  Now now_;
  std::vector<json> answers_;
  int begun_ = 0;  // rebuilds, none of which ends:
  Rebuilds endless_{
      [this](UserId, const Rebuilds::Admit&, const std::function<void()>&) { ++begun_; },
      {},
      w_.metrics,
      [] { return Time{}; },
      two_};
};

}  // namespace fanline::api
