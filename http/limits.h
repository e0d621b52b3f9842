// Every bound of the server, for one client and for all together.
#pragma once

#include <chrono>
#include <cstddef>

namespace fanline::http {

struct Limits {
  // Bytes of a request. More is refused before it is buffered.
  size_t request_line = 8 * 1024;    // method, target, version
  size_t head = 16 * 1024;           // request line and headers
  size_t headers = 100;              // lines
  size_t body = 64 * 1024;           // unpacked
  size_t chunk_line = 128;           // a chunk's size with its extensions
  size_t trailers = 4 * 1024;        // after the last chunk
  size_t drained = 2 * 1024 * 1024;  // read and dropped after a refusal, so that the client sees it

  // Clients connected at once. One more closes the connection that has been idle for the longest.
  // If none has been idle for idle_at_least, the newcomer gets 503 and is closed.
  size_t connections = 1'024;
  std::chrono::milliseconds idle_at_least{1'000};  // below it a request may be on its way

  // Each bounds the whole: a head from its first byte, a body from its head's end, an answer from
  // its first byte. So a client gains nothing by dripping bytes.
  std::chrono::milliseconds head_time{10'000};
  std::chrono::milliseconds body_time{10'000};
  std::chrono::milliseconds write_time{10'000};
  std::chrono::milliseconds idle_time{75'000};   // between two requests of a connection
  std::chrono::milliseconds linger_time{1'000};  // until the client closes its side too
  std::chrono::milliseconds stop_time{5'000};    // after a stop, no time above is longer

  // The server's threads. One at a time waits for all connections; the service may block the
  // others.
  size_t threads = 1;

  bool keep_alive = true;  // false: each connection carries one request
};

}  // namespace fanline::http
