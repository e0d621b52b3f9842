// Serves live timelines to programs that serve users, and the scripts of their rebuilds, by
// requests with replies. Each connection serves one request at a time. A request that may be served
// on its caller's thread is (Turn::here) if a connection is free: a page then costs one round trip
// and no handover. All others wait for the port's threads. Pages and rebuilds have queues of their
// own, as in turn_queue.h, so rebuilds never take all connections.
//
// Not served while Redis is not fit: requests then fail `later` within Submit. A node that did not
// answer rests a moment, and its requests fail at once (client/silent_nodes.h).
//
// Submit and waiting: any thread.
#pragma once

#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/redis/reader_timelines.h"
#include "fanline/base/mono_now.h"
#include "fanline/base/turn_queue.h"
#include "fanline/ports/reader_ports.h"

namespace fanline::redis {

struct PageLimits {
  size_t pages = 16;    // served at once
  size_t rebuilds = 4;  // and requests of rebuilds
  size_t queue = 16'384;
  Duration newest_first_after = std::chrono::milliseconds(250);
};

class PagePort final
    : public ServesAll<PagePort, ReadLivePage, BeginRebuild, FinishRebuild, AbandonRebuild> {
 public:
  PagePort(const Options& options, const PageLimits& limits)
      : queue_(Classes(limits), limits.pages + limits.rebuilds, limits.newest_first_after) {
    for (size_t i = 0; i < limits.pages + limits.rebuilds; ++i) {
      free_.push_back(std::make_unique<RedisReaderTimelines>(options));
    }
    for (size_t i = free_.size(); i > 0; --i) threads_.emplace_back([this] { Work(); });
  }
  ~PagePort() { Stop(); }

  template <class R>
  void Serve(R request, ReplyTo<typename R::Reply> to, Turn turn) {
    turn.work_class = std::is_same_v<R, ReadLivePage> ? 0 : 1;
    Take(Submitted<R>{std::move(request), to}, std::move(turn));
  }

  void SetFit(bool fit) {
    const std::lock_guard lock(mutex_);
    fit_ = fit;
  }
  // Ends its threads. What is submitted then is not served.
  void Stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      work_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  // Fails what is late; while all connections are busy nobody else notices.
  void DropLate() {
    std::vector<Queue::Dropped> dropped;
    {
      const std::lock_guard lock(mutex_);
      queue_.DropLate(MonoNow(), &dropped);
    }
    FailAll(dropped);
  }
  size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return queue_.waiting();
  }

 private:
  using Queue = TurnQueue<AnySubmitted>;

  static void Fail(const AnySubmitted& job, const Status& status) {
    std::visit([&](const auto& asked) { asked.to(FailureOf(asked.request, status)); }, job);
  }
  static std::array<ClassLimits, 2> Classes(const PageLimits& limits) {
    return {{{.reserved = limits.pages, .queue = limits.queue},
             {.reserved = limits.rebuilds, .queue = limits.queue}}};
  }
  void Take(AnySubmitted job, Turn turn) {
    const bool here = turn.here;
    std::vector<Queue::Dropped> dropped;
    {
      std::unique_lock lock(mutex_);
      if (!fit_) {
        lock.unlock();
        return Fail(job, Status::Later("redis", "it was not found fit to hold timelines yet"));
      }
      queue_.Push(std::move(job), std::move(turn), MonoNow(), &dropped);
      // Alone in the queue and ready, it is the next.
      if (here && !stopping_ && queue_.waiting() == 1 && queue_.ready()) {
        ServeNext(lock);
      } else {
        work_.notify_one();
      }
    }
    FailAll(dropped);
  }
  void Work() {
    std::unique_lock lock(mutex_);
    while (true) {
      work_.wait(lock, [this] { return stopping_ || queue_.ready(); });
      if (stopping_) return;
      ServeNext(lock);
    }
  }
  // Serves the next job. Called with the lock, and returns with it.
  void ServeNext(std::unique_lock<std::mutex>& lock) {
    std::vector<Queue::Dropped> dropped;
    Queue::Batch batch = queue_.Take(1, MonoNow(), &dropped);
    std::unique_ptr<RedisReaderTimelines> store;
    if (!batch.jobs.empty()) {
      store = std::move(free_.back());  // came back last: its connections are warm
      free_.pop_back();
    }
    lock.unlock();
    FailAll(dropped);
    if (store != nullptr) {
      std::visit(
          [&](auto& asked) {
            auto reply = store->Do(asked.request);
            // Others may have the connection before the reply is dealt with.
            lock.lock();
            queue_.Served(batch.work_class);
            free_.push_back(std::move(store));
            if (queue_.ready()) work_.notify_one();
            lock.unlock();
            asked.to(std::move(reply));
          },
          batch.jobs.front());
    }
    lock.lock();
  }
  static void FailAll(const std::vector<Queue::Dropped>& dropped) {
    for (const Queue::Dropped& each : dropped) Fail(each.job, each.StatusOf("redis"));
  }

  mutable std::mutex mutex_;
  std::condition_variable work_;
  // Below: under mutex_.
  Queue queue_;
  std::vector<std::unique_ptr<RedisReaderTimelines>> free_;
  bool fit_ = true;
  bool stopping_ = false;

  std::vector<std::thread> threads_;  // last: they use the others
};

}  // namespace fanline::redis
