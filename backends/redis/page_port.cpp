#include "backends/redis/page_port.h"

#include <array>

#include "fanline/base/mono_now.h"

namespace fanline::redis {
namespace {

void Fail(const PagePort::AnySubmitted& job, const Status& status) {
  std::visit([&](const auto& asked) { asked.to(FailureOf(asked.request, status)); }, job);
}

std::array<ClassLimits, 2> Classes(const PageLimits& limits) {
  return {{{.reserved = limits.pages, .queue = limits.queue},
           {.reserved = limits.rebuilds, .queue = limits.queue}}};
}

}  // namespace

PagePort::PagePort(const Options& options, const PageLimits& limits)
    : queue_(Classes(limits), limits.pages + limits.rebuilds, limits.newest_first_after) {
  for (size_t i = 0; i < limits.pages + limits.rebuilds; ++i) {
    free_.push_back(std::make_unique<RedisReaderTimelines>(options));
  }
  for (size_t i = free_.size(); i > 0; --i) threads_.emplace_back([this] { Work(); });
}

void PagePort::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    work_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void PagePort::Take(AnySubmitted job, Turn turn) {
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

void PagePort::ServeNext(std::unique_lock<std::mutex>& lock) {
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

void PagePort::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return stopping_ || queue_.ready(); });
    if (stopping_) return;
    ServeNext(lock);
  }
}

void PagePort::SetFit(bool fit) {
  const std::lock_guard lock(mutex_);
  fit_ = fit;
}

void PagePort::DropLate() {
  std::vector<Queue::Dropped> dropped;
  {
    const std::lock_guard lock(mutex_);
    queue_.DropLate(MonoNow(), &dropped);
  }
  FailAll(dropped);
}

size_t PagePort::waiting() const {
  const std::lock_guard lock(mutex_);
  return queue_.waiting();
}

void PagePort::FailAll(const std::vector<Queue::Dropped>& dropped) {
  for (const Queue::Dropped& each : dropped) Fail(each.job, each.StatusOf("redis"));
}

}  // namespace fanline::redis
