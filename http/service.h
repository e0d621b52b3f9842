// The service behind a server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "http/message.h"

namespace fanline::http {

class Service {
 public:
  // Sends the answer: once for each request, from any thread, even from within Serve.
  using Answer = std::function<void(Response)>;

  virtual ~Service() = default;

  // Called on a thread of the server. It may block all of them but one (Limits::threads): with a
  // single thread it must not block. An exception becomes a 500.
  virtual void Serve(Request request, Answer answer) = 0;

  // The response that the server itself gives to a request that it does not read (`detail` says
  // why), to a client that is too slow (408), or to one too many (503).
  virtual Response Refuse(int status, const std::string& detail) = 0;

  // The number of clients connected changed; for a client above the limit an idle one was closed,
  // or it was turned away itself.
  virtual void Connected(size_t /*clients*/) {}
  virtual void ClosedIdle() {}
  virtual void TurnedAway() {}
  // The number of requests being served changed, or the number of them whose clients have closed
  // their side since. Most of those want no answer any more.
  virtual void Serving(size_t /*requests*/, size_t /*left*/) {}
  // The bytes of answers that their clients have not taken yet changed by `bytes`. Any thread, even
  // within the call of an Answer.
  virtual void Kept(int64_t /*bytes*/) {}
};

}  // namespace fanline::http
