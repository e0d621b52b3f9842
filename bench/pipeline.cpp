#include "bench/pipeline.h"

#include <hiredis/hiredis.h>
#include <sys/time.h>

#include <stdexcept>
#include <utility>

namespace fanline::bench {
namespace {

constexpr timeval kPatience{10, 0};

}  // namespace

Pipeline::Pipeline(const Endpoint& redis, uint32_t in_flight, Heard heard)
    : in_flight_(in_flight),
      heard_(std::move(heard)),
      context_(redisConnectWithTimeout(redis.host.c_str(), redis.port, kPatience), redisFree) {
  if (!context_ || context_->err != 0) throw std::runtime_error("no connection to Redis");
  redisSetTimeout(context_.get(), kPatience);
}

Pipeline::~Pipeline() = default;

void Pipeline::Send(const std::vector<std::string>& words) {
  argv_.clear();
  lengths_.clear();
  for (const std::string& word : words) {
    argv_.push_back(word.data());
    lengths_.push_back(word.size());
  }
  redisAppendCommandArgv(context_.get(), static_cast<int>(words.size()), argv_.data(),
                         lengths_.data());
  if (++waiting_ == in_flight_) Receive();
}

void Pipeline::Drain() {
  while (waiting_ > 0) Receive();
}

void Pipeline::Receive() {
  void* raw = nullptr;
  if (redisGetReply(context_.get(), &raw) != REDIS_OK) {
    throw std::runtime_error(std::string("Redis: ") + context_->errstr);
  }
  const std::unique_ptr<void, void (*)(void*)> guard(raw, freeReplyObject);
  const auto& reply = *static_cast<redisReply*>(raw);
  if (reply.type == REDIS_REPLY_ERROR) throw std::runtime_error(reply.str);
  --waiting_;
  if (heard_) heard_(reply);
}

}  // namespace fanline::bench
