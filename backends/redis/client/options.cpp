#include "backends/redis/client/options.h"

#include <algorithm>
#include <cctype>

#include "fanline/model/bucket.h"

namespace fanline::redis {

bool IsKeyPrefix(std::string_view text) {
  return text.size() <= kMostOfPrefix && std::all_of(text.begin(), text.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) ||
                  std::string_view("._:-").find(c) != std::string_view::npos;
         });
}

std::string Problem(const Options& options) {
  if (options.seeds.empty()) return "redis needs at least one address";
  for (const Endpoint& seed : options.seeds) {
    if (seed.host.empty() || seed.port == 0) return "redis address must be host:port";
  }
  if (!IsKeyPrefix(options.key_prefix)) return "the key prefix is too long, or of other characters";
  if (!RangeLayout::Divides(options.partitions)) return "partitions must divide 1024";
  if (!options.window.fits()) {
    return "the window must leave room for 2 sentinels and " + std::to_string(kMaxAddsPerWrite) +
           " adds within max_entries";
  }
  return {};
}

}  // namespace fanline::redis
