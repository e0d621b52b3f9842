// How long pages of timelines that are not live take, on sixteen shards that answer after a
// millisecond. Time is counted, not waited for, so the figures are exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/api/world.h"
#include "tests/unit/seeded.h"

namespace fanline::api {
namespace {

using testing::Seeded;

constexpr uint64_t kAuthors = 400, kFirstReader = 10'000;
constexpr int kReaders = 200;

class PageRounds : public ::testing::Test {
 protected:
  // Authors of one post a minute to one a month; readers who follow one to 300 of them.
  void SetUp() override {
    uint64_t post = 0;
    for (uint64_t author = 1; author <= kAuthors; ++author) {
      const auto apart = UnixMs{60'000} << seeded_.Below(16);
      UnixMs at = w_.now - static_cast<UnixMs>(seeded_.Below(static_cast<uint64_t>(apart)));
      const uint64_t posts = 1 + seeded_.Below(60);
      for (uint64_t i = 0; i < posts && at > 0; ++i, at -= Apart(apart)) {
        w_.Publish(author, ++post, at);
      }
    }
    for (int i = 0; i < kReaders; ++i) {
      const uint64_t followed = 1 + seeded_.Below(uint64_t{1} << (1 + seeded_.Below(8)));
      for (uint64_t n = 0; n < followed; ++n) {
        w_.posts.mysql.WriteForward(UserId{kFirstReader + static_cast<uint64_t>(i)},
                                    UserId{1 + seeded_.Below(kAuthors)}, true);
      }
    }
    const auto clock = [this] { return Now{w_.mono.load(), w_.now}; };
    pages_ = std::make_unique<Pages>(*w_.exchanges, rebuilds_, sixteen_, w_.metrics, clock,
                                     Pages::Rules());
    handler_ = std::make_unique<Handler>(*w_.exchanges, *pages_, nullptr, w_.metrics, clock);
  }

  UnixMs Apart(UnixMs about) {
    return 1 + static_cast<UnixMs>(seeded_.Below(2 * static_cast<uint64_t>(about)));
  }

  // The milliseconds that a page takes. A shard serves one request at a time.
  int Serve(int reader, const std::string& query) {
    bool answered = false;
    w_.posts.holds = true;
    handler_->Serve(
        RequestOf("GET /v1/users/" + std::to_string(kFirstReader + static_cast<uint64_t>(reader)) +
                  "/timeline?" + query),
        [&](const Response& response) {
          answered = true;
          EXPECT_EQ(response.status, 200) << response.body;
        });
    int took = 0;
    while (!answered && took < 1'000) took += static_cast<int>(w_.posts.AnswerWhatIsHeld());
    return took;
  }

  Seeded seeded_;
  const ShardMap sixteen_ = ShardMap::Even(16);
  World w_;
  Rebuilds rebuilds_{[](UserId, const Rebuilds::Admit&, const std::function<void()>& ended) {
                       ended();  // nobody becomes live
                     },
                     {},
                     w_.metrics,
                     [this] { return w_.mono.load(); }};
  std::unique_ptr<Pages> pages_;
  std::unique_ptr<Handler> handler_;
};

TEST_F(PageRounds, NinetyNineOfAHundredPulledPagesTakeSixRoundsOfOneMillisecondAtMost) {
  std::vector<int> took;
  for (int reader = 0; reader < kReaders; ++reader) {
    took.push_back(Serve(reader, ""));
    took.push_back(Serve(reader, "limit=200"));
  }
  std::sort(took.begin(), took.end());
  const int p99 = took[took.size() * 99 / 100];
  RecordProperty("p50", took[took.size() / 2]);
  RecordProperty("p99", p99);
  RecordProperty("most", took.back());
  EXPECT_LE(p99, 6);
  EXPECT_GE(took.front(), 4) << "followees, their last posts, items, the proof";
}

}  // namespace
}  // namespace fanline::api
