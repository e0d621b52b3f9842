// The threads of an adapter: per shard, bounded queues and a few workers with a connection each. A
// worker takes up to PoolLimits::batch queued jobs and serves them as one batch. turn_queue.h says
// which job is next. The owner (shard_port.h) knows what a job is and where its reply goes.
//
// Every submitted job is served or failed exactly once, unless the pool is destroyed first. A shard
// that is away makes nobody wait. It is away while none of its workers can connect, and while its
// prober, if there is one, gets no answer in time or finds a replica. A server that answers but
// admits no further connection is away only if no worker has one. Jobs of a shard that is away fail
// `later` within Submit with the reason, and the workers keep trying with back-off. The other
// shards' workers are not affected. Jobs also fail `later`
// - when the server is no longer the primary (Connection::CheckPrimary, before each batch);
// - when their queue is full, when they are late, or when nobody waits for them (turn_queue.h),
//   with Cause::kOverloaded and the expected wait. The pool notices it within Submit of this job or
//   of another, when a worker becomes free, and in DropLate.
//
// Submit: any thread; never blocks on the database. The owner is called on a worker's thread,
// FailJob also within Submit. The destructor waits for running statements (read_timeout).
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
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
#include "fanline/base/log_limiter.h"
#include "fanline/base/log_sink.h"
#include "fanline/base/mono_now.h"
#include "fanline/base/turn.h"
#include "fanline/base/turn_queue.h"

namespace fanline::mysql {

struct PoolLimits {
  size_t threads_per_shard = 1;
  size_t batch = 1;                           // jobs served together, at most
  size_t queue = 65'536;                      // jobs waiting per shard, if `classes` is empty
  std::span<const ClassLimits> classes = {};  // empty: one class for all work
  Duration newest_first_after = Duration::max();
  // Each shard has a prober: a thread with a connection of its own, which asks the server every
  // Config::primary_check whether it is there, and waits two seconds for the answer. So the pool
  // knows that a shard is away before anybody sends it a request, and while its workers hang.
  bool probes = false;
  // A worker that has no job for so long looks whether its connection is still there.
  Duration look_at_idle = std::chrono::seconds(30);
};

// Owner: has ServeBatch(Connection&, std::vector<Job>&) and FailJob(const Job&, const Status&), and
// may have kReopens (shard_port.h).
template <typename Job, typename Owner>
class ShardPool {
 public:
  // `health` may be empty, and may take its time: only workers that connect wait for it. It is told
  // the states of a shard in their order. Neither it nor `log` may call Submit.
  ShardPool(Config config, const PoolLimits& limits, Owner& owner, HealthSink health, LogSink log)
      : config_(std::move(config)),
        impatient_(Impatient(config_)),
        limits_(limits),
        owner_(owner),
        health_(std::move(health)),
        log_(std::move(log), MonoNow) {
    const ClassLimits all{.queue = limits_.queue};
    const auto classes = limits_.classes.empty() ? std::span(&all, 1) : limits_.classes;
    for (Shard shard = 0; shard < config_.shards.size(); ++shard) {
      shards_.push_back(std::make_unique<ShardState>(
          Queue(classes, limits_.threads_per_shard, limits_.newest_first_after),
          limits_.threads_per_shard));
    }
    for (Shard shard = 0; shard < config_.shards.size(); ++shard) {
      for (size_t i = 0; i < limits_.threads_per_shard; ++i) {
        threads_.emplace_back([this, shard, i] { Work(shard, *shards_[shard], i); });
      }
      if (limits_.probes) threads_.emplace_back([this, shard] { Probe(shard, *shards_[shard]); });
    }
  }

  ~ShardPool() { Stop(); }

  // Ends its threads, of which the last replies come. What is submitted then is not served. For an
  // owner of several servers whose replies lead to requests to each other.
  void Stop() {
    stopping_ = true;
    for (auto& state : shards_) {
      const std::lock_guard lock(state->mutex);  // or a worker between check and wait misses it
      for (auto& worker : state->workers) worker.notify_one();
      state->retry.notify_all();
    }
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }

  void Submit(Shard shard, Job job, Turn turn = {}) {
    ShardState& state = *shards_[shard];
    std::optional<Status> away;
    std::vector<Dropped> dropped;
    std::condition_variable* worker = nullptr;
    {
      const std::lock_guard lock(state.mutex);
      away = state.away;
      if (!away) {
        state.queue.Push(std::move(job), std::move(turn), MonoNow(), &dropped);
        if (std::exchange(free_next, nullptr) != &state) worker = state.NextIdle();
      }
    }
    if (away) return owner_.FailJob(job, *away);
    if (worker != nullptr) worker->notify_one();
    FailDropped(shard, dropped);
  }

  // Fails the oldest jobs that are late or that nobody waits for. For an owner who promises a time
  // limit: while all workers are busy and no job comes, nobody else notices.
  void DropLate() {
    for (Shard shard = 0; shard < shards_.size(); ++shard) {
      std::vector<Dropped> dropped;
      {
        const std::lock_guard lock(shards_[shard]->mutex);
        shards_[shard]->queue.DropLate(MonoNow(), &dropped);
      }
      FailDropped(shard, dropped);
    }
  }

  // Known to be; a request would fail at once.
  bool away(Shard shard) const {
    const std::lock_guard lock(shards_[shard]->mutex);
    return shards_[shard]->away.has_value();
  }

  // The jobs of these classes that wait for a worker, of all shards.
  size_t waiting(size_t first = 0, size_t last = SIZE_MAX) const {
    size_t sum = 0;
    for (const auto& state : shards_) {
      const std::lock_guard lock(state->mutex);
      sum += state->queue.waiting(first, last);
    }
    return sum;
  }

  // Calls `call`, which uses the connection. If that turns out to be dead, and the owner
  // `kReopens`, calls once more on a new one. A connection that was lost by a timeout is not opened
  // again: the caller has waited long enough.
  template <class Call>
  static void OnALiveOne(Connection& connection, const Call& call) {
    if constexpr (requires { requires Owner::kReopens; }) {
      const Time begin = MonoNow();
      try {
        return call();
      } catch (const MysqlError&) {
        if (connection.is_open() || MonoNow() - begin >= kSoon) throw;
      }
      connection.Open();
    }
    call();
  }

  // The Status of an error of the last call. Logs it, but not every time: requests to a shard that
  // refuses come again and again.
  [[nodiscard]] Status Failed(const Connection& connection, const MysqlError& error) {
    const Shard shard = connection.shard();
    // A shard that came back as another server may become the right one again.
    Status status =
        error.code() == kUnsupported ? AwayBy(error, shard) : StatusOf(error, config_, shard);
    LogFailure(shard, error.code(), status);
    return status;
  }

 private:
  static constexpr Duration kSoon = std::chrono::seconds(1);

  using Queue = TurnQueue<Job>;
  using Batch = typename Queue::Batch;
  using Dropped = typename Queue::Dropped;

  // Shared by the threads of one shard.
  struct ShardState {
    ShardState(Queue jobs, size_t threads) : workers(threads), queue(std::move(jobs)) {}

    // The worker that is to look for a job, if one waits for that. It is the last that began to
    // wait: its connection is the warmest at both ends.
    std::condition_variable* NextIdle() {
      if (idle.empty()) return nullptr;
      auto* const worker = &workers[idle.back()];
      idle.pop_back();
      return worker;
    }

    std::mutex telling;  // held while the health sink is told; taken before the other
    std::mutex mutex;
    std::deque<std::condition_variable> workers;  // what each waits for when it is connected
    std::condition_variable retry;                // for those who wait for the next attempt
    // Guarded by mutex.
    Queue queue;
    std::vector<size_t> idle;           // workers that wait for a job
    size_t connected = 0;               // workers
    std::string server;                 // what the last connection found
    std::optional<Status> unreachable;  // why; none is connected, and the last attempt failed
    std::optional<Status> silent;       // why the prober was not answered
    std::optional<Status> away;         // one of the two
    bool told = false;                  // the health sink was told of a state
  };

  void Work(Shard shard, ShardState& state, size_t worker) {
    Connection connection(config_, shard);
    std::minstd_rand random(std::random_device{}());
    uint32_t attempts = 0;
    while (!stopping_) {
      if (!connection.is_open()) {
        ++attempts;
        if (!Open(connection, state)) {
          Wait(state, config_.reopen.Delay(attempts, random()));
          continue;
        }
        attempts = 0;
      }
      ServeNext(connection, state, worker);
    }
  }

  void ServeNext(Connection& connection, ShardState& state, size_t worker) {
    std::vector<Dropped> dropped;
    Batch batch = Take(state, worker, &dropped);
    FailDropped(connection.shard(), dropped);
    if (batch.jobs.empty()) return LookAtIdle(connection, state);
    if (batch.jobs.size() == 1) free_next = &state;
    Serve(connection, batch.jobs);
    free_next = nullptr;
    NoteServed(state, batch.work_class, connection.is_open());
  }

  // The workers that are seldom next would else find out at the next peak, one job after the other,
  // that something between here and the server has dropped their connections.
  void LookAtIdle(Connection& connection, ShardState& state) {
    try {
      if (!stopping_) connection.CheckPrimary(MonoNow());
    } catch (const MysqlError&) {
      // Who uses the connection next is told why.
    }
    if (connection.is_open()) return;
    const std::lock_guard lock(state.mutex);
    --state.connected;
  }

  bool Open(Connection& connection, ShardState& state) {
    try {
      connection.Open();
    } catch (const MysqlError& error) {
      const Status why = AwayBy(error, connection.shard());
      Note(connection.shard(), state, [&] {
        if (state.connected == 0) state.unreachable = why;  // else a sibling still serves
      });
      return false;
    }
    Note(connection.shard(), state, [&] {
      ++state.connected;
      state.unreachable.reset();
      state.server = connection.server_name();
    });
    return true;
  }

  void NoteServed(ShardState& state, size_t work_class, bool connected) {
    const std::lock_guard lock(state.mutex);
    state.queue.Served(work_class);
    if (connected) return;
    --state.connected;
    if (auto* const next = state.NextIdle()) next->notify_one();  // it may take its place
  }

  void Probe(Shard shard, ShardState& state) {
    Connection connection(impatient_, shard);
    std::minstd_rand random(std::random_device{}());
    uint32_t attempts = 0;
    while (!stopping_) {
      std::optional<Status> silent;
      bool refused = false;
      try {
        AskWhetherItIsThere(connection);
        attempts = 0;
      } catch (const MysqlError& error) {
        connection.Close();
        ++attempts;
        silent = AwayBy(error, shard);
        refused = RefusesToConnect(error.code());
        if (refused) LogFailure(shard, error.code(), *silent);
      }
      Note(shard, state, [&] {
        state.silent = refused && state.connected > 0 ? std::nullopt : silent;
        if (!silent) state.server = connection.server_name();
      });
      Wait(state, silent ? impatient_.reopen.Delay(attempts, random()) : config_.primary_check);
    }
  }

  // A connection that fails at once may have been killed alone. Only a new one tells whether the
  // server is there.
  static void AskWhetherItIsThere(Connection& connection) {
    const Time begin = MonoNow();
    try {
      if (connection.is_open()) return connection.RequirePrimary();
    } catch (const MysqlError&) {
      if (MonoNow() - begin >= kSoon) throw;
    }
    connection.Open();
  }

  void LogFailure(Shard shard, int code, const Status& why) {
    const std::string key = ResourceOf(shard) + " " + std::to_string(code);
    log_.Log(LogLevel::kWarn, key, LineOf(shard, why));
  }

  static Config Impatient(Config config) {
    config.read_timeout = std::chrono::seconds(2);
    config.reopen.most = std::chrono::seconds(1);
    return config;
  }

  Status AwayBy(const MysqlError& error, Shard shard) const {
    Status status = StatusOf(error, config_, shard);
    status.outcome = Outcome::kLater;  // even a `never` here says nothing about a job
    status.resource = config_.NameOf(shard);
    return status;
  }

  // `change` has one of the two reasons. Fails the jobs that wait if the shard is away.
  template <class Change>
  void Note(Shard shard, ShardState& state, const Change& change) {
    const std::lock_guard in_order(state.telling);
    std::vector<Job> abandoned;
    std::optional<Status> away;
    bool is_news = false;
    {
      const std::lock_guard lock(state.mutex);
      change();
      away = state.silent ? state.silent : state.unreachable;
      if (!away && limits_.threads_per_shard > 0 && state.connected == 0) return;  // not known yet
      is_news = SetAway(shard, state, away);
      if (away) abandoned = state.queue.Clear();
    }
    if (is_news && health_) health_(shard, away.value_or(Status::Done()));
    if (away) FailAll(abandoned, *away);
  }

  // Returns whether the health sink does not know that yet. Under the mutex.
  bool SetAway(Shard shard, ShardState& state, const std::optional<Status>& away) {
    const std::optional<Status> before = std::exchange(state.away, away);
    const bool known = std::exchange(state.told, true);
    if (away) {
      const std::string line = LineOf(shard, *away);
      before ? log_.Log(LogLevel::kWarn, line, line) : log_.Log(LogLevel::kWarn, line);
      return !before || before->message != away->message;
    }
    if (known && !before) return false;
    log_.Log(LogLevel::kInfo, LineOf(shard, "connected to " + state.server));
    return true;
  }

  void Wait(ShardState& state, Duration delay) {
    std::unique_lock lock(state.mutex);
    state.retry.wait_for(lock, delay, [this] { return stopping_.load(); });
  }

  // Waits for a job. Empty: the pool is stopping, or there was no job to serve after all, or none
  // has come for so long that the connection is to be looked at.
  Batch Take(ShardState& state, size_t worker, std::vector<Dropped>* dropped) {
    std::unique_lock lock(state.mutex);
    while (!stopping_ && !state.queue.ready()) {
      state.idle.push_back(worker);
      const bool woken =
          state.workers[worker].wait_for(lock, limits_.look_at_idle) == std::cv_status::no_timeout;
      std::erase(state.idle, worker);
      if (!woken && !stopping_ && !state.queue.ready()) return {};
    }
    if (stopping_) return {};
    Batch batch = state.queue.Take(limits_.batch, MonoNow(), dropped);
    // A worker that was not woken for its job may have freed a place for another class besides.
    if (state.queue.ready()) {
      if (auto* const next = state.NextIdle()) next->notify_one();
    }
    return batch;
  }

  void Serve(Connection& connection, std::vector<Job>& jobs) {
    try {
      OnALiveOne(connection, [&] { connection.CheckPrimary(MonoNow()); });
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
      owner_.FailJob(each.job, each.StatusOf(config_.NameOf(shard)));
    }
  }

  // With what an operator may do about it.
  std::string LineOf(Shard shard, const Status& why) const {
    const std::string advice = why.advice;
    return LineOf(shard, why.message + (advice.empty() ? "" : "; ") + advice);
  }
  std::string LineOf(Shard shard, const std::string& message) const {
    return config_.NameOf(shard) + " (" + Owner::kName + "): " + message;
  }

  // The shard of this thread, if it is a worker that answers its only job: the reply to it is the
  // last thing it does before it takes the next job. Then what the reply submits needs no other
  // worker, and nobody is woken for it.
  static inline thread_local const ShardState* free_next = nullptr;

  const Config config_, impatient_;  // the second: a prober's
  const PoolLimits limits_;
  Owner& owner_;
  const HealthSink health_;
  LogLimiter log_;
  std::atomic<bool> stopping_ = false;
  std::vector<std::unique_ptr<ShardState>> shards_;  // one per shard
  std::vector<std::thread> threads_;
};

}  // namespace fanline::mysql
