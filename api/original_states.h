// A cache of the states of originals. The pages of many readers show reposts of the same few
// originals, so most pages ask no shard for them.
//
// The cache belongs to this process and is never invalidated. A state is at most kFor old, or
// kStale while a page renews it. So an original that is hidden leaves all pages within kStale, and
// with it its reposts; shown again, they come back as soon. While an original's shard does not
// answer, what was known last is served for kWhileAway: if the shard is away, its posts cannot
// change. The bound is for a shard that is away only for us. Such a shard is asked again every
// kFor.
//
// Bounded. Thread-safe.
#pragma once

#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "fanline/base/time.h"
#include "fanline/ports/reader_ports.h"

namespace fanline::api {

class OriginalStates {
 public:
  static constexpr Duration kFor = std::chrono::seconds(1);
  static constexpr Duration kStale = std::chrono::seconds(2);
  static constexpr Duration kWhileAway = std::chrono::minutes(5);
  static constexpr size_t kMost = 100'000;

  explicit OriginalStates(size_t most = kMost) : most_(most) {}

  // Those to be asked for, by one request, whose reply Put takes; the caller counts as renewing
  // them. None: Serve has all.
  std::vector<Original> Stale(const std::vector<Original>& originals, Time now);
  // `asked`: when Stale was called.
  void Put(const std::vector<Original>& originals, const OriginalsRead& reply, Time asked);
  // There was no reply in time.
  void Missed(const std::vector<Original>& originals, Time asked) { Put(originals, {}, asked); }
  // What is known of each.
  std::vector<std::optional<PostState>> Serve(const std::vector<Original>& originals, Time now);

 private:
  struct Entry {
    Original original;
    std::optional<PostState> state;
    Time read_at{};
    std::optional<Time> renewing;  // since when
    std::optional<Time> failed;    // when it was last asked for in vain
  };
  using Entries = std::list<Entry>;  // the last used first

  Entry& Use(const Original& original);

  const size_t most_;
  std::mutex mutex_;
  Entries entries_;  // under mutex_, as the next
  std::map<Original, Entries::iterator> by_original_;
};

}  // namespace fanline::api
