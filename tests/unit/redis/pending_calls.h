// Calls that wait until a test answers them, with what comes from the wire.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/redis/client/command_channel.h"
#include "backends/redis/client/reply.h"

namespace fanline::redis {

class WireReply {
 public:
  explicit WireReply(std::string_view wire) : reader_(redisReaderCreate(), redisReaderFree) {
    void* raw = nullptr;
    redisReaderFeed(reader_.get(), wire.data(), wire.size());
    redisReaderGetReply(reader_.get(), &raw);
    reply_ = {static_cast<redisReply*>(raw), freeReplyObject};
  }
  const redisReply& operator*() const { return *reply_; }

 private:
  std::unique_ptr<redisReader, void (*)(redisReader*)> reader_;
  std::unique_ptr<redisReply, void (*)(void*)> reply_{nullptr, freeReplyObject};
};

class PendingCalls : public CommandChannel {
 public:
  void Call(CommandBuffer command, Done done) override {
    asked.emplace_back(command.bytes());
    waiting_.push_back(std::move(done));
  }
  size_t under_way() const { return waiting_.size(); }
  // The oldest calls' answers.
  template <class... Wires>
  void Answer(const Wires&... wires) {
    (End({Status::Done(), false, &*WireReply(wires)}), ...);
  }
  void Fail(bool needs_claim = false) {
    End({Status::Later("redis", "gone"), needs_claim, nullptr});
  }

  std::vector<std::string> asked;  // as written on the wire

 private:
  void End(const CallResult& result) {
    const Done done = std::move(waiting_.at(0));
    waiting_.pop_front();
    done(result);
  }

  std::deque<Done> waiting_;
};

}  // namespace fanline::redis
