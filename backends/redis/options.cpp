#include "backends/redis/options.h"

#include <charconv>

#include "fanline/bucket.h"

namespace fanline::redis {

std::optional<Endpoint> ParseEndpoint(std::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  std::string_view host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  const std::string_view port_text = address.substr(colon + 1);
  uint16_t port = 0;
  const char* end = port_text.data() + port_text.size();
  const auto [stopped, error] = std::from_chars(port_text.data(), end, port);
  if (error != std::errc() || stopped != end || port == 0) return std::nullopt;
  return Endpoint{std::string(host), port};
}

std::string Problem(const Options& options) {
  const WindowLimits& window = options.window;
  if (!ParseEndpoint(options.address)) return "redis address must be host:port";
  if (!RangeLayout::Divides(options.partitions)) return "partitions must divide 1024";
  if (window.window == 0 || window.window + 2 + kMaxAddsPerWrite > window.max_entries) {
    return "the window must leave room for 2 sentinels and " + std::to_string(kMaxAddsPerWrite) +
           " adds within max_entries";
  }
  if (options.keys_per_call == 0 || options.calls_in_flight == 0 || options.max_requests == 0 ||
      options.scan_count == 0) {
    return "keys per call, calls in flight, requests and scan count must be at least 1";
  }
  return {};
}

}  // namespace fanline::redis
