#include "backends/redis/client/options.h"

#include "fanline/model/bucket.h"

namespace fanline::redis {

std::string Problem(const Options& options) {
  if (options.seeds.empty()) return "redis needs at least one address";
  for (const Endpoint& seed : options.seeds) {
    if (seed.host.empty() || seed.port == 0) return "redis address must be host:port";
  }
  if (!RangeLayout::Divides(options.partitions)) return "partitions must divide 1024";
  if (!options.window.fits()) {
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
