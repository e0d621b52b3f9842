// A loopback port that accepts connections and says nothing, like a stopped process.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fanline/base/check.h"
#include "fanline/base/endpoint.h"

namespace fanline {

class HangingHost {
 public:
  HangingHost() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof place;
    FANLINE_CHECK(bind(listener_, reinterpret_cast<sockaddr*>(&place), size) == 0, "no port");
    FANLINE_CHECK(listen(listener_, 64) == 0, "no listener");
    getsockname(listener_, reinterpret_cast<sockaddr*>(&place), &size);
    port_ = ntohs(place.sin_port);
  }
  ~HangingHost() { close(listener_); }
  HangingHost(const HangingHost&) = delete;
  HangingHost& operator=(const HangingHost&) = delete;

  Endpoint address() const { return {"127.0.0.1", port_}; }
  int listener() const { return listener_; }

 private:
  const int listener_;
  uint16_t port_ = 0;
};

}  // namespace fanline
