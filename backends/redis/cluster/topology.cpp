#include "backends/redis/cluster/topology.h"

namespace fanline::redis {
namespace {

using namespace std::chrono_literals;

constexpr auto kLeast = 50ms;  // between two refreshes, however many doubts
// While OnMap returns false or nobody answers: a failover takes a second or two.
constexpr Backoff kUneasy{100ms, 500ms};

}  // namespace

Topology::Topology(const Options& options, OnMap on_map, OnNobody on_nobody)
    : options_(options),
      on_map_(std::move(on_map)),
      on_nobody_(std::move(on_nobody)),
      masters_(options),
      random_(std::random_device{}()) {}

void Topology::Start() {
  thread_ = std::thread([this] { Run(); });
}

void Topology::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Topology::Doubt() {
  {
    const std::lock_guard lock(mutex_);
    doubted_ = true;
  }
  wake_.notify_all();
}

bool Topology::Ask() {
  const Status status = masters_.Refresh(Masters::Ask::kAll);
  if (status.done()) return on_map_(masters_.map());
  on_nobody_(status.message);
  return false;
}

void Topology::Run() {
  uint32_t uneasy = 0;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    doubted_ = false;
    lock.unlock();
    uneasy = Ask() ? 0 : uneasy + 1;
    const Backoff pace =
        uneasy > 0 ? kUneasy : Backoff{Duration(options_.map_every), Duration(options_.map_every)};
    const Duration pause = pace.Delay(uneasy, random_());
    lock.lock();
    wake_.wait_for(lock, kLeast, [this] { return stopping_; });
    wake_.wait_for(lock, pause, [this] { return stopping_ || doubted_; });
  }
}

}  // namespace fanline::redis
