// Pipelined commands to one Redis through hiredis, as a program without any of our adapters would
// send them: commands go out and replies come back with at most `in_flight` between them. One
// thread. Whatever goes wrong is a std::runtime_error: a bench has no use for half a measurement.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fanline/base/endpoint.h"

struct redisContext;
struct redisReply;

namespace fanline::bench {

class Pipeline {
 public:
  using Heard = std::function<void(const redisReply&)>;

  // `heard` is told every reply, in the order of the commands, during Send and Drain.
  Pipeline(const Endpoint& redis, uint32_t in_flight, Heard heard = {});
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // Waits for the oldest reply when `in_flight` are out.
  void Send(const std::vector<std::string>& words);
  // Waits for all.
  void Drain();

 private:
  void Receive();

  const uint32_t in_flight_;
  const Heard heard_;
  uint32_t waiting_ = 0;
  std::unique_ptr<redisContext, void (*)(redisContext*)> context_;
  std::vector<const char*> argv_;
  std::vector<size_t> lengths_;
};

}  // namespace fanline::bench
