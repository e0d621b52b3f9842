// The threads of an adapter: a bounded queue and a few workers per shard, each worker with a
// connection of its own. A worker takes up to PoolLimits::batch queued jobs and serves them as one
// batch. The owner (shard_port.h) knows what a job is and how its replies get home.
//
// Every job submitted is served or failed exactly once, unless the pool is destroyed first. A shard
// that is away makes nobody wait: while none of its workers can connect, its jobs fail `later` from
// within Submit, and the workers try again with back-off. The other shards' workers never notice.
// Jobs also fail `later` when the queue is full (from within Submit) and when the server is no
// primary any more (Connection::CheckPrimary, before each batch).
//
// Submit: any thread, never blocks on the database. The owner is called from a worker's thread;
// FailJob also from within Submit. The destructor waits for statements under way (read_timeout).
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/mysql/sql/config.h"
#include "backends/mysql/sql/connection.h"
#include "backends/mysql/sql/errors.h"
#include "backends/mysql/sql/mono_now.h"
#include "fanline/base/log_limiter.h"
#include "fanline/base/log_sink.h"

namespace fanline::mysql {

struct PoolLimits {
  size_t threads_per_shard = 1;
  size_t batch = 1;       // jobs served together
  size_t queue = 65'536;  // jobs waiting per shard
};

// Owner: ServeBatch(Connection&, std::vector<Job>&) and FailJob(const Job&, const Status&).
template <typename Job, typename Owner>
class ShardPool {
 public:
  // `health` may be empty; it and `log` must not call Submit.
  ShardPool(Config config, const PoolLimits& limits, Owner& owner, HealthSink health, LogSink log)
      : config_(std::move(config)),
        limits_(limits),
        owner_(owner),
        health_(std::move(health)),
        log_(std::move(log), MonoNow) {
    for (Shard shard = 0; shard < config_.shards.size(); ++shard) {
      shards_.push_back(std::make_unique<ShardState>());
    }
    for (Shard shard = 0; shard < config_.shards.size(); ++shard) {
      for (size_t i = 0; i < limits_.threads_per_shard; ++i) {
        threads_.emplace_back([this, shard] { Work(shard, *shards_[shard]); });
      }
    }
  }

  ~ShardPool() {
    stopping_ = true;
    for (auto& state : shards_) {
      const std::lock_guard lock(state->mutex);  // or a worker between look and wait misses it
      state->changed.notify_all();
    }
    for (auto& thread : threads_) thread.join();
  }

  void Submit(Shard shard, Job job) {
    ShardState& state = *shards_[shard];
    std::string refusal;
    {
      const std::lock_guard lock(state.mutex);
      if (state.away) {
        refusal = state.why_away;
      } else if (state.queue.size() >= limits_.queue) {
        refusal = "queue full: " + std::to_string(limits_.queue) + " requests are waiting";
      } else {
        state.queue.push_back(std::move(job));
        state.changed.notify_one();
        return;
      }
    }
    owner_.FailJob(job, Status::Later(ResourceOf(shard), refusal));
  }

  // The Status of an error of the call just made; logs it, once in a while: what waits for a shard
  // that refuses asks again and again.
  [[nodiscard]] Status Failed(const Connection& connection, const MysqlError& error) {
    const Shard shard = connection.shard();
    Status status = StatusOf(error, shard);
    const std::string key = ResourceOf(shard) + " " + std::to_string(error.code());
    log_.Log(LogLevel::kWarn, key, LineOf(shard, status.message));
    return status;
  }

 private:
  // What the workers of one shard share.
  struct ShardState {
    std::mutex mutex;
    std::condition_variable changed;
    // Below: under mutex.
    std::deque<Job> queue;
    size_t connected = 0;
    bool away = false;  // none connected, and the last attempt failed
    std::string why_away;
  };

  void Work(Shard shard, ShardState& state) {
    Connection connection(config_, shard);
    std::minstd_rand random(std::random_device{}());
    uint32_t attempts = 0;
    while (!stopping_) {
      if (!connection.is_open()) {
        ++attempts;
        if (!Open(connection, state)) {
          WaitBeforeNextAttempt(state, config_.reopen.Delay(attempts, random()));
          continue;
        }
        attempts = 0;
      }
      Serve(connection, Take(state));
      if (!connection.is_open()) NoteLost(state);
    }
  }

  bool Open(Connection& connection, ShardState& state) {
    try {
      connection.Open();
    } catch (const MysqlError& error) {
      connection.Close();
      NoteUnreachable(connection.shard(), state, error);
      return false;
    }
    const std::lock_guard lock(state.mutex);
    state.away = false;
    if (state.connected++ == 0) Tell(connection.shard(), true, "connected");
    return true;
  }

  void NoteLost(ShardState& state) {
    const std::lock_guard lock(state.mutex);
    --state.connected;
  }

  void NoteUnreachable(Shard shard, ShardState& state, const MysqlError& error) {
    const Status status = StatusOf(error, shard);
    std::deque<Job> abandoned;
    {
      const std::lock_guard lock(state.mutex);
      if (state.connected > 0) return;  // a sibling still serves the queue
      if (!std::exchange(state.away, true)) Tell(shard, false, status.message);
      state.why_away = status.message;
      abandoned.swap(state.queue);
    }
    FailAll(abandoned, Status::Later(ResourceOf(shard), status.message));
  }

  // Called under the mutex, so that the last state told is the last there was.
  void Tell(Shard shard, bool reachable, const std::string& message) {
    log_.Log(reachable ? LogLevel::kInfo : LogLevel::kWarn, LineOf(shard, message));
    if (health_) health_(shard, reachable);
  }

  void WaitBeforeNextAttempt(ShardState& state, Duration delay) {
    std::unique_lock lock(state.mutex);
    state.changed.wait_for(lock, delay, [this] { return stopping_.load(); });
  }

  // Waits for at least one job; empty: stopping.
  std::vector<Job> Take(ShardState& state) {
    std::unique_lock lock(state.mutex);
    state.changed.wait(lock, [&] { return stopping_ || !state.queue.empty(); });
    std::vector<Job> batch;
    while (!stopping_ && !state.queue.empty() && batch.size() < limits_.batch) {
      batch.push_back(std::move(state.queue.front()));
      state.queue.pop_front();
    }
    return batch;
  }

  void Serve(Connection& connection, std::vector<Job> batch) {
    if (batch.empty()) return;
    try {
      connection.CheckPrimary(MonoNow());
    } catch (const MysqlError& error) {
      return FailAll(batch, Failed(connection, error));
    }
    owner_.ServeBatch(connection, batch);
  }

  template <class Jobs>
  void FailAll(const Jobs& jobs, const Status& status) {
    for (const Job& job : jobs) owner_.FailJob(job, status);
  }

  static std::string LineOf(Shard shard, const std::string& message) {
    return ResourceOf(shard) + " (" + Owner::kName + "): " + message;
  }

  const Config config_;
  const PoolLimits limits_;
  Owner& owner_;
  const HealthSink health_;
  LogLimiter log_;
  std::atomic<bool> stopping_ = false;
  std::vector<std::unique_ptr<ShardState>> shards_;  // one per shard
  std::vector<std::thread> threads_;
};

}  // namespace fanline::mysql
