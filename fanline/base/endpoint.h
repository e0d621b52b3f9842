// A place on the network, written host:port.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fanline {

struct Endpoint {
  std::string host;
  uint16_t port = 0;  // 0: when listening, a free port of the kernel's choice

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// Reads "host:port" or "[v6 address]:port"; nothing if it is neither. Any thread.
[[nodiscard]] std::optional<Endpoint> ParseEndpoint(std::string_view text);

// The inverse: brackets around a host that contains ':'.
[[nodiscard]] std::string ToString(const Endpoint& endpoint);

}  // namespace fanline
