#include "bench/sets.h"

#include <random>

#include "fanline/model/bucket.h"

namespace fanline::bench {

std::string KeyOf(std::string_view kind, uint64_t number) {
  const UserId reader{1'000'000'000 + number};
  const RangeLayout layout(16);
  return std::string(kind) + ":{" + TagOf(layout.First(layout.RangeOf(reader))) +
         "}:" + ToString(reader);
}

void CopyFirst(Pipeline& pipeline, std::string_view kind, uint64_t keys) {
  const std::string first = KeyOf(kind, 0);
  for (uint64_t i = 1; i < keys; ++i) pipeline.Send({"COPY", first, KeyOf(kind, i), "REPLACE"});
}

std::vector<uint32_t> Draw(uint64_t posts, uint32_t per_post, uint64_t of, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<uint32_t> any(0, static_cast<uint32_t>(of - 1));
  std::vector<uint32_t> drawn;
  drawn.reserve(posts * per_post);
  std::vector<uint64_t> last_post(of, 0);
  for (uint64_t post = 1; post <= posts; ++post) {
    for (uint32_t i = 0; i < per_post;) {
      const uint32_t number = any(random);
      if (last_post[number] == post) continue;
      last_post[number] = post;
      drawn.push_back(number);
      ++i;
    }
  }
  return drawn;
}

}  // namespace fanline::bench
