// What a server serves.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "http/message.h"

namespace fanline::http {

class Service {
 public:
  // Sends the answer. Once for each request, from any thread, also from within Serve.
  using Answer = std::function<void(Response)>;

  virtual ~Service() = default;

  // Called on a thread of the server. It may block all of them but one (Limits::threads): with a
  // single thread it must not block. An exception becomes a 500.
  virtual void Serve(Request request, Answer answer) = 0;

  // Words an answer that the server gives by itself: to a request that it does not read (`detail`
  // says why), to a client that is too slow (408), or to one too many (503).
  virtual Response Refuse(int status, const std::string& detail) = 0;

  // The number of clients connected changed; a client above the limit was turned away.
  virtual void Connected(size_t /*clients*/) {}
  virtual void TurnedAway() {}
};

}  // namespace fanline::http
