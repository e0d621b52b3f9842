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

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/redis/reader_timelines.h"
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
  PagePort(const Options& options, const PageLimits& limits);
  ~PagePort() { Stop(); }

  template <class R>
  void Serve(R request, ReplyTo<typename R::Reply> to, Turn turn) {
    turn.work_class = std::is_same_v<R, ReadLivePage> ? 0 : 1;
    Take(Submitted<R>{std::move(request), to}, std::move(turn));
  }

  void SetFit(bool fit);
  // Ends its threads. What is submitted then is not served.
  void Stop();
  // Fails what is late; while all connections are busy nobody else notices.
  void DropLate();
  size_t waiting() const;

 private:
  using Queue = TurnQueue<AnySubmitted>;

  void Take(AnySubmitted job, Turn turn);
  void Work();
  // Serves the next job. Called with the lock, and returns with it.
  void ServeNext(std::unique_lock<std::mutex>& lock);
  static void FailAll(const std::vector<Queue::Dropped>& dropped);

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
