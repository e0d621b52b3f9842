// A cache of the newest posts of authors whose posts are merged at read. With it a page of a live
// timeline that names such authors asks no shard.
//
// The cache belongs to this process and is never invalidated. Entries are at most kFor old, or
// kStale while a thread renews them. So a new post of such an author appears, and a deleted one
// disappears, up to this much later than a pushed one. A `newest_cursor` stays behind by as much.
// The cache never decides whom a reader follows; the timeline does. A page that reaches deeper than
// kNewest posts of an author is pulled.
//
// While an author's shard is away, its posts cannot change, so what was read last is served for
// kWhileAway. The bound is for a shard that is away only for us. If the cache does not hold an
// author's posts as far as the page reaches, the page lacks them. In both cases the page is
// incomplete.
//
// One thread at a time renews an author's entry; others use the present one, or pull. Bounded.
// Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fanline/base/time.h"
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

  // `away`: whether the user's shard is known to be away; any thread.
  explicit MergedPosts(std::function<bool(UserId)> away) : away_(std::move(away)) {}

  // Gives `reader`'s page the posts of marked authors if all are known. Posts that are unknown
  // because their shard is away are left out.
  void Serve(timeline::PageRead& read, UserId reader, Time now);
  // Renews the entries that the page needs and nobody else is renewing, then serves the page. What
  // cannot be read is left to the page's own pull, which needs no shard that is known to be away.
  // Blocks.
  void Load(timeline::PageRead& read, UserId reader, ReaderTruth& truth, Time now);

 private:
  struct Posts {
    std::vector<Item> items;  // newest first
    bool all = false;         // there are no more
    Time read_at{};
  };
  struct Entry {
    std::shared_ptr<const Posts> posts;
    bool loading = false;
  };

  // An entry for each author; null: it must be read.
  std::vector<std::shared_ptr<const Posts>> Find(const std::vector<UserId>& authors, Time now);
  std::vector<UserId> Claim(const std::vector<UserId>& authors, Time now);
  void Put(UserId author, std::shared_ptr<const Posts> posts);

  static std::optional<std::vector<Item>> Merge(
      const std::vector<std::shared_ptr<const Posts>>& posts, const timeline::Beside& wanted);

  const std::function<bool(UserId)> away_;
  std::mutex mutex_;
  std::unordered_map<UserId, Entry> entries_;
};

}  // namespace fanline::api
