// The threads of an adapter: per shard, bounded queues and a few workers with a connection each. A
// worker takes up to PoolLimits::batch queued jobs and serves them as one batch. turn_queue.h says
// which job is next. The owner (shard_port.h) knows what a job is and where its reply goes.
//
// Every submitted job is served or failed exactly once, unless the pool is destroyed first. A shard
// that is away makes nobody wait. While none of its workers can connect, its jobs fail `later`
// within Submit with the reason of the last attempt, and the workers keep trying with back-off. The
// other shards' workers are not affected. Jobs also fail `later`
// - when the server is no longer the primary (Connection::CheckPrimary, before each batch);
// - when their queue is full, when they are late, or when nobody waits for them (turn_queue.h),
//   with Cause::kOverloaded and the expected wait. The pool notices it within Submit of this job or
//   of another, and when a worker becomes free.
//
// Submit: any thread; never blocks on the database. The owner is called on a worker's thread,
// FailJob also within Submit. The destructor waits for running statements (read_timeout).
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/mysql/sql/config.h"
#include "backends/mysql/sql/connection.h"
#include "backends/mysql/sql/errors.h"
#include "backends/mysql/sql/mono_now.h"
#include "backends/mysql/sql/turn_queue.h"
#include "fanline/base/log_limiter.h"
#include "fanline/base/log_sink.h"
#include "fanline/ports/turn.h"

namespace fanline::mysql {

struct PoolLimits {
  size_t threads_per_shard = 1;
  size_t batch = 1;                           // jobs served together, at most
  size_t queue = 65'536;                      // jobs waiting per shard, if `classes` is empty
  std::span<const ClassLimits> classes = {};  // empty: one class for all work
  Duration newest_first_after = Duration::max();
  // An idle worker asks its server every Config::primary_check whether it is there. So the pool
  // knows that a shard is away before anybody sends it a request.
  bool probes = false;
};

// Owner: has ServeBatch(Connection&, std::vector<Job>&) and FailJob(const Job&, const Status&).
template <typename Job, typename Owner>
class ShardPool {
 public:
  // `health` may be empty. Neither it nor `log` may call Submit.
  ShardPool(Config config, const PoolLimits& limits, Owner& owner, HealthSink health, LogSink log)
      : config_(std::move(config)),
        limits_(limits),
        owner_(owner),
        health_(std::move(health)),
        log_(std::move(log), MonoNow) {
    const ClassLimits all{.queue = limits_.queue};
    const auto classes = limits_.classes.empty() ? std::span(&all, 1) : limits_.classes;
    for (Shard shard = 0; shard < config_.shards.size(); ++shard) {
      shards_.push_back(std::make_unique<ShardState>(
          Queue(classes, limits_.threads_per_shard, limits_.newest_first_after)));
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
      const std::lock_guard lock(state->mutex);  // or a worker between check and wait misses it
      state->changed.notify_all();
      state->retry.notify_all();
    }
    for (auto& thread : threads_) thread.join();
  }

  void Submit(Shard shard, Job job, Turn turn = {}) {
    ShardState& state = *shards_[shard];
    std::optional<Status> away;
    std::vector<Dropped> dropped;
    {
      const std::lock_guard lock(state.mutex);
      away = state.away;
      if (!away) {
        state.queue.Push(std::move(job), std::move(turn), MonoNow(), &dropped);
        state.changed.notify_one();
      }
    }
    if (away) return owner_.FailJob(job, *away);
    FailDropped(shard, dropped);
  }

  // The Status of an error of the last call. Logs it, but not every time: requests to a shard that
  // refuses come again and again.
  [[nodiscard]] Status Failed(const Connection& connection, const MysqlError& error) {
    const Shard shard = connection.shard();
    Status status = StatusOf(error, shard);
    const std::string key = ResourceOf(shard) + " " + std::to_string(error.code());
    log_.Log(LogLevel::kWarn, key, LineOf(shard, status.message));
    return status;
  }

 private:
  using Queue = TurnQueue<Job>;
  using Batch = typename Queue::Batch;
  using Dropped = typename Queue::Dropped;

  // Shared by the workers of one shard.
  struct ShardState {
    explicit ShardState(Queue jobs) : queue(std::move(jobs)) {}

    std::mutex mutex;
    std::condition_variable changed;  // for connected workers
    std::condition_variable retry;    // for workers that wait for the next attempt to connect
    // Guarded by mutex.
    Queue queue;
    size_t connected = 0;
    std::optional<Status> away;  // why; none is connected, and the last attempt failed
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
      ServeNext(connection, state);
    }
  }

  void ServeNext(Connection& connection, ShardState& state) {
    std::vector<Dropped> dropped;
    Batch batch = Take(state, &dropped);
    FailDropped(connection.shard(), dropped);
    if (batch.jobs.empty()) {
      if (limits_.probes && !stopping_) Probe(connection, state);
      return;
    }
    Serve(connection, batch.jobs);
    NoteServed(state, batch.work_class, connection.is_open());
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
    state.away.reset();
    if (state.connected++ == 0) {
      log_.Log(LogLevel::kInfo, LineOf(connection.shard(), "connected"));
      Tell(connection.shard(), Status::Done());
    }
    return true;
  }

  void NoteServed(ShardState& state, size_t work_class, bool connected) {
    const std::lock_guard lock(state.mutex);
    state.queue.Served(work_class);
    if (connected) return;
    --state.connected;
    state.changed.notify_one();  // another worker may take its place
  }

  void Probe(Connection& connection, ShardState& state) {
    try {
      connection.CheckPrimary(MonoNow());
    } catch (const MysqlError& error) {
      connection.Close();
      {
        const std::lock_guard lock(state.mutex);
        --state.connected;
      }
      NoteUnreachable(connection.shard(), state, error);
    }
  }

  void NoteUnreachable(Shard shard, ShardState& state, const MysqlError& error) {
    Status status = StatusOf(error, shard);
    status.outcome = Outcome::kLater;  // even a `never` here says nothing about a job
    status.resource = ResourceOf(shard);
    std::vector<Job> abandoned;
    {
      const std::lock_guard lock(state.mutex);
      if (state.connected > 0) return;  // a sibling still serves the queue
      const auto before = std::exchange(state.away, status);
      const std::string line = LineOf(shard, status.message);
      before ? log_.Log(LogLevel::kWarn, line, line) : log_.Log(LogLevel::kWarn, line);
      if (!before || before->message != status.message) Tell(shard, status);
      abandoned = state.queue.Clear();
    }
    FailAll(abandoned, status);
  }

  // Called under the mutex, so that the states are reported in their order.
  void Tell(Shard shard, const Status& status) {
    if (health_) health_(shard, status);
  }

  void WaitBeforeNextAttempt(ShardState& state, Duration delay) {
    std::unique_lock lock(state.mutex);
    state.retry.wait_for(lock, delay, [this] { return stopping_.load(); });
  }

  // Waits for a job. Empty: the pool is stopping, there was no job to serve after all, or no job
  // came before the next probe is due.
  Batch Take(ShardState& state, std::vector<Dropped>* dropped) {
    std::unique_lock lock(state.mutex);
    const auto ready = [&] { return stopping_ || state.queue.ready(); };
    if (!limits_.probes) {
      state.changed.wait(lock, ready);
    } else if (!state.changed.wait_for(lock, config_.primary_check, ready)) {
      return {};
    }
    if (stopping_) return {};
    return state.queue.Take(limits_.batch, MonoNow(), dropped);
  }

  void Serve(Connection& connection, std::vector<Job>& jobs) {
    try {
      connection.CheckPrimary(MonoNow());
    } catch (const MysqlError& error) {
      return FailAll(jobs, Failed(connection, error));
    }
    owner_.ServeBatch(connection, jobs);
  }

  void FailAll(const std::vector<Job>& jobs, const Status& status) {
    for (const Job& job : jobs) owner_.FailJob(job, status);
  }
  void FailDropped(Shard shard, const std::vector<Dropped>& dropped) {
    for (const Dropped& each : dropped) {
      Status status = Status::Later(ResourceOf(shard), WordsOf(each.why));
      status.cause = Cause::kOverloaded;
      status.wait = each.wait;
      owner_.FailJob(each.job, status);
    }
  }
  static const char* WordsOf(typename Queue::Why why) {
    switch (why) {
      case Queue::Why::kFull:
        return "queue full: as many requests are waiting as may wait";
      case Queue::Why::kLate:
        return "it was not served in time";
      case Queue::Why::kDead:
        return "nobody waits for it any more";
    }
    return "";
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
