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

  // From a thread of the server. One of them must be left to serve everybody (Limits::threads):
  // with a single one this must not block. What it throws is a 500.
  virtual void Serve(Request request, Answer answer) = 0;

  // The words of an answer which the server gives by itself: to what it does not read (detail says
  // why), to a client that is too slow (408) or one too many (503).
  virtual Response Refuse(int status, const std::string& detail) = 0;

  // Clients connected, whenever that changes; and one that was one too many.
  virtual void Connected(size_t /*clients*/) {}
  virtual void TurnedAway() {}
};

}  // namespace fanline::http
