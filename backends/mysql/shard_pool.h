// The threads of an adapter: a bounded queue and a few workers per shard, each worker with a
// connection of its own. A worker takes what is queued, bounded, and serves it as one batch.
//
// Every request submitted is replied to exactly once, unless the pool is destroyed first.
// A shard that is away does not make anybody wait: while none of its workers is connected, its
// requests are answered `later` from within Submit, and the workers knock again with back-off.
// The other shards' workers never notice. A full queue is answered the same way, and so is a shard
// that is reached but no primary any more (Connection::CheckPrimary, before each batch).
//
// Submit: any thread, never blocks on the database. Replies: from a worker's thread, or from
// within Submit as said. The destructor waits for statements under way (read_timeout).
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/mysql/config.h"
#include "backends/mysql/connection.h"
#include "backends/mysql/errors.h"
#include "backends/mysql/mono_now.h"
#include "fanline/log_sink.h"

namespace fanline::mysql {

template <typename Request, typename Reply>
class ShardPool {
 public:
  struct Limits {
    size_t threads_per_shard = 1;
    size_t batch = 1;       // requests served together
    size_t queue = 65'536;  // requests waiting per shard
  };
  struct Callbacks {
    // Answers of a whole batch, in its order; throws MysqlError when the batch failed.
    std::function<std::vector<Reply>(Connection&, const std::vector<Request>&)> serve;
    std::function<Reply(const Request&, Status)> fail;
    std::function<void(Reply)> reply;
    HealthSink health;  // may be empty; must not call Submit
    LogSink log;        // the same
  };

  ShardPool(Config config, std::string name, Limits limits, Callbacks callbacks)
      : config_(std::move(config)),
        name_(std::move(name)),
        limits_(limits),
        callbacks_(std::move(callbacks)) {
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

  void Submit(Shard shard, Request request) {
    ShardState& state = *shards_[shard];
    std::string refusal;
    {
      const std::lock_guard lock(state.mutex);
      if (state.away) {
        refusal = state.why_away;
      } else if (state.queue.size() >= limits_.queue) {
        refusal = "queue full: " + std::to_string(limits_.queue) + " requests are waiting";
      } else {
        state.queue.push_back(std::move(request));
        state.changed.notify_one();
        return;
      }
    }
    callbacks_.reply(callbacks_.fail(request, Status::Later(ResourceOf(shard), refusal)));
  }

 private:
  // What the workers of one shard share.
  struct ShardState {
    std::mutex mutex;
    std::condition_variable changed;
    // Below: under mutex.
    std::deque<Request> queue;
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
    std::deque<Request> abandoned;
    {
      const std::lock_guard lock(state.mutex);
      if (state.connected > 0) return;  // a sibling still serves the queue
      if (!std::exchange(state.away, true)) Tell(shard, false, status.message);
      state.why_away = status.message;
      abandoned.swap(state.queue);
    }
    for (const Request& request : abandoned) {
      callbacks_.reply(callbacks_.fail(request, Status::Later(ResourceOf(shard), status.message)));
    }
  }

  // Under the mutex, so that the last thing told is the last thing that happened.
  void Tell(Shard shard, bool reachable, const std::string& message) {
    callbacks_.log(reachable ? LogLevel::kInfo : LogLevel::kWarn,
                   ResourceOf(shard) + " (" + name_ + "): " + message);
    if (callbacks_.health) callbacks_.health(shard, reachable);
  }

  void WaitBeforeNextAttempt(ShardState& state, Duration delay) {
    std::unique_lock lock(state.mutex);
    state.changed.wait_for(lock, delay, [this] { return stopping_.load(); });
  }

  // Waits for at least one request; empty: stopping.
  std::vector<Request> Take(ShardState& state) {
    std::unique_lock lock(state.mutex);
    state.changed.wait(lock, [&] { return stopping_ || !state.queue.empty(); });
    std::vector<Request> batch;
    while (!stopping_ && !state.queue.empty() && batch.size() < limits_.batch) {
      batch.push_back(std::move(state.queue.front()));
      state.queue.pop_front();
    }
    return batch;
  }

  void Serve(Connection& connection, const std::vector<Request>& batch) {
    if (batch.empty()) return;
    try {
      connection.CheckPrimary(MonoNow());
    } catch (const MysqlError& error) {
      return Fail(connection, batch, error);
    }
    ServeBatch(connection, batch);
  }

  void ServeBatch(Connection& connection, const std::vector<Request>& batch) {
    try {
      for (Reply& reply : callbacks_.serve(connection, batch)) callbacks_.reply(std::move(reply));
    } catch (const MysqlError& error) {
      if (error.kind() != ErrorKind::kData || batch.size() == 1) {
        return Fail(connection, batch, error);
      }
      for (const Request& request : batch) ServeBatch(connection, {request});
    }
  }

  void Fail(const Connection& connection, const std::vector<Request>& batch,
            const MysqlError& error) {
    const Status status = StatusOf(error, connection.shard());
    callbacks_.log(LogLevel::kWarn,
                   ResourceOf(connection.shard()) + " (" + name_ + "): " + status.message);
    for (const Request& request : batch) callbacks_.reply(callbacks_.fail(request, status));
  }

  const Config config_;
  const std::string name_;
  const Limits limits_;
  const Callbacks callbacks_;
  std::atomic<bool> stopping_ = false;
  std::vector<std::unique_ptr<ShardState>> shards_;  // one per shard
  std::vector<std::thread> threads_;
};

}  // namespace fanline::mysql
