// One connection to a Redis node: pipelined, never blocking. It signs in by itself. Append each
// command to out() and call Expect() for its reply. Pump() moves bytes both ways and calls the
// callbacks in order. After Pump has failed there are no more callbacks; commands that were sent
// may or may not have been carried out.
// The address is looked up for each connection. Of several, the next is tried when one refuses or
// has had its part of connect_timeout; only when none connects has the connection failed. With TLS,
// all must prove the name. The lookup blocks.
//
// Belongs to one thread; fd(), events() and deadline() tell it what to wait for.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/redis/client/command_buffer.h"
#include "backends/redis/client/options.h"
#include "backends/redis/client/stream.h"
#include "fanline/base/time.h"

struct redisContext;
struct redisReply;

namespace fanline::redis {

class PipelinedConnection {
 public:
  using OnReply = std::function<void(const redisReply&)>;

  explicit PipelinedConnection(const Options& options);  // begins to connect; see failure()
  PipelinedConnection(const PipelinedConnection&) = delete;
  PipelinedConnection& operator=(const PipelinedConnection&) = delete;

  CommandBuffer& out() { return out_; }
  void Expect(OnReply on_reply, Time now);  // the command just appended

  // Sends and reads what is possible now. False: failed, see failure(). `patient`: the oldest
  // command times out as if it were sent when the last bytes came.
  [[nodiscard]] bool Pump(Time now, bool patient = false);
  // Sends what can be sent, once connected. False: failed.
  [[nodiscard]] bool Flush() { return failure_.empty() && (!connected_ || Send()); }
  const std::string& failure() const { return failure_; }
  // It failed, and the node was silent, or one of its addresses.
  bool timed_out() const { return timed_out_; }

  int fd() const;
  short events() const;   // for poll(2)
  Time deadline() const;  // when connecting or the oldest command times out

 private:
  void SignIn();
  bool TryNext(Time now, std::string why);
  bool Fail(std::string why);
  bool FinishConnecting(Time now);
  bool Greet();
  bool Send();
  bool Receive();

  struct Expected {
    OnReply on_reply;
    Time sent;
  };

  const Options& options_;
  std::string failure_;
  const std::vector<Endpoint> addresses_;
  size_t tried_ = 0;     // of them, the one under way included
  Time next_address_{};  // when the one under way has had its time
  std::unique_ptr<redisContext, void (*)(redisContext*)> context_;
  std::optional<Stream> stream_;  // once there is a connection
  CommandBuffer out_;
  size_t sent_ = 0;  // bytes of out_ already on their way
  std::deque<Expected> expected_;
  bool received_ = false;  // bytes, in this Pump
  const Time started_;
  bool connected_ = false;
  bool timed_out_ = false;
};

}  // namespace fanline::redis
