// fanline-pusher, wired by its own main.cpp, that ends as by SIGKILL when it is about to read the
// truth about one hint: of post DIE_AT_POST in range DIE_IN_RANGE. Such a hint is to be quarantined
// after three crashes, alone (dlq_test.py).
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "backends/mysql/posts/truth.h"

namespace fanline::mysql {

class DyingTruth final : public ServesAll<DyingTruth, ReadPostStates, ReadFollowerPage, ReadSync> {
 public:
  DyingTruth(const Config& config, HealthSink health, LogSink log, TruthService service,
             const PoolLimits& limits)
      : truth_(config, std::move(health), std::move(log), std::move(service), limits) {}

  template <class R>
  void Serve(R request, ReplyTo<typename R::Reply> to) {
    Look(request);
    truth_.Submit(std::move(request), to);
  }

 private:
  static uint64_t Number(const char* name) { return std::strtoull(std::getenv(name), nullptr, 10); }

  void Look(const ReadSync&) {}
  void Look(const ReadPostStates& request) {
    const bool met = std::find(request.posts.begin(), request.posts.end(),
                               PostId{Number("DIE_AT_POST")}) != request.posts.end();
    if (met) of_the_post_ = request.id;
  }
  // Comes after the states of the unit's posts, under the same id.
  void Look(const ReadFollowerPage& request) {
    const bool met = request.id == of_the_post_;
    if (met && static_cast<uint64_t>(request.range) == Number("DIE_IN_RANGE")) std::raise(SIGKILL);
  }

  uint64_t of_the_post_ = 0;
  MysqlTruth truth_;
};

}  // namespace fanline::mysql

#define MysqlTruth DyingTruth
#include "pusher/main.cpp"
