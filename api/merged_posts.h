// A cache of the newest posts of authors whose posts are merged at read. With it a page of a live
// timeline that names such authors asks no shard.
//
// The cache belongs to this process and is never invalidated. Entries are at most kFor old, or
// kStale while a thread renews them. So a new post of such an author appears, and a deleted one
// disappears, up to this much later than a pushed one. A `newest_cursor` stays behind by as much.
// The cache never decides whom a reader follows; the timeline does. A page that reaches deeper than
// kNewest posts of an author is pulled.
//
// While an author's shard does not answer, what was read last is served for kWhileAway: if the
// shard is away, its posts cannot change. The bound is for a shard that is away only for us. If
// nothing is remembered of the author, the page lacks those posts. In both cases the page is
// incomplete, the first unless what is remembered is younger than kStale. Such a shard is asked
// again every kFor, and one that hangs every kStale.
//
// One request at a time renews an author's entry. Pages use the present one meanwhile, or wait for
// the new one, as long as they like. A reply that comes later than that serves the pages after
// them. Once a page has waited in vain, no other waits for the same request. Bounded. Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fanline/base/time.h"
#include "fanline/model/bucket.h"
#include "fanline/ports/reader_ports.h"
#include "timeline/page.h"

namespace fanline::api {

class MergedPosts {
 public:
  static constexpr Duration kFor = std::chrono::seconds(1);
  static constexpr Duration kStale = std::chrono::seconds(3);
  static constexpr Duration kWhileAway = std::chrono::minutes(5);
  static constexpr uint32_t kNewest = 100;  // of an author
  static constexpr size_t kMost = 10'000;   // authors

  // Gives the page the posts of marked authors if all are known, or cannot be. Returns the authors
  // for whom the page has to wait first. `waited`: it waits no longer.
  std::vector<UserId> Serve(timeline::PageRead& read, Time now, bool waited = false);
  // The wait `wait` ends when the author's entry is renewed. True: nobody asks for it yet, so the
  // caller asks by Request, and gives the reply to Put.
  [[nodiscard]] bool Await(UserId author, uint64_t wait, Time now);
  static ReadItems Request(UserId author, const ShardMap& map);
  // `asked`: when Await was called. Returns the waits that end.
  [[nodiscard]] std::vector<uint64_t> Put(UserId author, const ItemsAnswered& reply, Time asked);

 private:
  struct Posts {
    std::vector<Item> items;  // newest first
    bool all = false;         // there are no more
    Time read_at{};
  };
  struct Entry {
    std::shared_ptr<const Posts> posts;
    std::optional<Time> loading;  // since when it is being asked for; counts for kStale
    std::optional<Time> failed;   // when it was last asked or waited for in vain
    std::vector<uint64_t> waits = {};
  };
  struct Found {
    std::vector<std::shared_ptr<const Posts>> posts;
    std::vector<UserId> unknown;
    bool no_room = false;     // for another author
    bool incomplete = false;  // posts of authors whose shards do not answer may be missing
  };

  Found Find(const std::vector<UserId>& authors, Time now, bool waited);
  bool HasRoom(Time now);
  struct Merged {
    std::vector<Item> items, in_front;
  };
  static std::optional<Merged> Merge(const std::vector<std::shared_ptr<const Posts>>& posts,
                                     const timeline::Beside& wanted);

  std::mutex mutex_;
  std::unordered_map<UserId, Entry> entries_;
};

}  // namespace fanline::api
