// Asks and waits for the answer, for a caller that has a thread to spare.
//
//   Answers<EdgeChanged> answers;
//   mysql::MysqlForwardStore store(...);  // after `answers`, which outlives what answers there
//   const EdgeChanged reply = answers.Ask(store, ChangeEdge{0, change});
//
// An answer that comes when its asker has given up is no answer to anybody else: it goes to
// `late`, or nowhere. Any thread may ask, and several at a time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include "fanline/base/time.h"
#include "fanline/ports/port.h"

namespace fanline {

template <class Reply>
class Answers {
 public:
  explicit Answers(ReplyTo<Reply> late = {}) : late_(late) {}

  // Waits as long as it takes: every adapter answers within its own bounds. `request` is given an
  // id.
  template <class R>
  Reply Ask(Serves<R>& server, R request) {
    const uint64_t id = Submit(server, std::move(request));
    std::unique_lock lock(mutex_);
    answered_.wait(lock, [&] { return awaited_.at(id).has_value(); });
    return *std::move(awaited_.extract(id).mapped());
  }

  // Nothing: no answer came in time. What was asked may be done all the same.
  template <class R>
  std::optional<Reply> Ask(Serves<R>& server, R request, Duration patience) {
    const uint64_t id = Submit(server, std::move(request));
    std::unique_lock lock(mutex_);
    answered_.wait_for(lock, patience, [&] { return awaited_.at(id).has_value(); });
    return std::move(awaited_.extract(id).mapped());
  }

  void Push(Reply reply) {
    {
      const std::lock_guard lock(mutex_);
      const auto awaited = awaited_.find(reply.id);
      if (awaited != awaited_.end()) {
        awaited->second = std::move(reply);
        answered_.notify_all();
        return;
      }
    }
    late_(std::move(reply));
  }

 private:
  template <class R>
  uint64_t Submit(Serves<R>& server, R request) {
    {
      const std::lock_guard lock(mutex_);
      request.id = ++last_id_;
      awaited_.try_emplace(request.id);
    }
    const uint64_t id = request.id;
    server.Submit(std::move(request), *this);  // an answer may come from within
    return id;
  }

  const ReplyTo<Reply> late_;
  std::mutex mutex_;
  std::condition_variable answered_;
  uint64_t last_id_ = 0;                              // under mutex_
  std::map<uint64_t, std::optional<Reply>> awaited_;  // by id; none: no answer yet; under mutex_
};

// The replies to a run, for a caller that steps it to its end on its own thread. One thread waits;
// any thread may reply.
template <class... Reply>
class RunReplies {
 public:
  using Any = std::variant<Reply...>;

  void Push(Any reply) {
    const std::lock_guard lock(mutex_);
    replies_.push_back(std::move(reply));
    came_.notify_one();
  }

  // Makes the requests by `submit`, and goes on until the run is done.
  template <class Run, class Submit>
  void Finish(Run& run, typename Run::Requests requests, const Submit& submit) {
    while (true) {
      for (auto& request : requests) std::visit(submit, std::move(request));
      if (run.done()) return;
      requests = std::visit(
          [&](auto&& reply) -> typename Run::Requests {
            if constexpr (requires { run.On(std::move(reply)); }) {
              return run.On(std::move(reply));
            } else {
              return {};
            }
          },
          Wait());
    }
  }

  Any Wait() {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [this] { return !replies_.empty(); });
    Any reply = std::move(replies_.front());
    replies_.pop_front();
    return reply;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<Any> replies_;  // under mutex_
};

}  // namespace fanline
