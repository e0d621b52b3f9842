// The same random requests to real shards and to the fake that the simulation runs on: each reply
// is compared, and now and then all contents. What the fake leaves out is said in its header.

#include "tests/integration/mysql/model/edges.h"
#include "tests/integration/mysql/model/owners.h"
#include "tests/integration/mysql/model/posts.h"
#include "tests/integration/mysql/model/readers.h"

namespace fanline::mysql::model {
namespace {

constexpr int kRequests = 8'000;
constexpr int kBetweenLooks = 100;

TEST(FakeMysql, AnswersWhatMariaDbAnswers) {
  World world;
  Edges edges{world};
  Posts posts{world};
  Readers readers{world};
  Owners owners{world};
  const auto draw = [&]() -> std::string {
    const uint64_t dice = world.Below(100);
    if (dice < 42) return edges.Draw();
    if (dice < 72) return posts.Draw();
    if (dice < 88) return readers.Draw();
    return owners.Draw();
  };
  for (int request = 1; request <= kRequests && !::testing::Test::HasFailure(); ++request) {
    const std::string drawn = draw();
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << "request " << request << ": " << drawn;
      break;
    }
    if (request % kBetweenLooks != 0) continue;
    SCOPED_TRACE("after request " + std::to_string(request));
    edges.CompareContents();
    posts.CompareContents();
    if (request % (3 * kBetweenLooks) == 0) world.PassAnHour();
  }
}

}  // namespace
}  // namespace fanline::mysql::model
