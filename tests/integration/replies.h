// Collects the replies that come from an adapter's threads.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

namespace fanline {

template <typename Reply>
class Replies {
 public:
  void Push(Reply reply) {
    const std::lock_guard lock(mutex_);
    const uint64_t id = reply.id;
    EXPECT_TRUE(by_id_.emplace(id, std::move(reply)).second) << "request " << id << " twice";
    changed_.notify_all();
  }

  // Removes and returns the reply to `id`. After half a minute the test fails, and the reply is
  // empty.
  Reply Await(uint64_t id) {
    std::unique_lock lock(mutex_);
    const auto there = [&] { return by_id_.contains(id); };
    if (!changed_.wait_for(lock, std::chrono::seconds(30), there)) {
      ADD_FAILURE() << "no reply to request " << id;
      return Reply{};
    }
    return std::move(by_id_.extract(id).mapped());
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, Reply> by_id_;
};

// Asks `server` and waits for the reply.
template <class Server, class R>
typename R::Reply Ask(Server& server, R request) {
  Replies<typename R::Reply> replies;
  request.id = 1;
  server.Submit(std::move(request), replies);
  return replies.Await(1);
}

}  // namespace fanline
