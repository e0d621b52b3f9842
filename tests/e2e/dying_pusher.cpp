// fanline-pusher, wired by its own main.cpp, that ends as by SIGKILL when it is about to read the
// truth about one hint: of post DIE_AT_POST in range DIE_IN_RANGE. Such a hint is to be quarantined
// after three crashes, alone (dlq_test.py).
#include <csignal>
#include <cstdlib>
#include <set>
#include <utility>

#include "backends/mysql/posts/truth.h"

namespace fanline::mysql {

class DyingTruth final
    : public ServesAll<DyingTruth, ReadPostStates, ReadFollowerPage, ReadSync, ReadMutes> {
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
  void Look(const ReadMutes&) {}
  // Comes after the pages of followers that were asked for in the same step.
  void Look(const ReadPostStates& request) {
    for (const auto& [author, post] : request.posts) {
      if (Raw(post) == Number("DIE_AT_POST") && in_the_range_.contains(author)) std::raise(SIGKILL);
    }
    for (const auto& [author, post] : request.posts) in_the_range_.erase(author);
  }
  void Look(const ReadFollowerPage& request) {
    const bool met = static_cast<uint64_t>(request.range) == Number("DIE_IN_RANGE");
    if (met) in_the_range_.insert(request.author);
  }

  std::set<UserId> in_the_range_;
  MysqlTruth truth_;
};

}  // namespace fanline::mysql

#define MysqlTruth DyingTruth
#include "pusher/main.cpp"
