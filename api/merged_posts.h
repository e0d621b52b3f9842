// The newest posts of authors whose posts are merged at read, as this process read them a moment
// ago: a page of a live timeline that names such authors then asks no shard.
//
// Whose cache: this process's own, and nobody invalidates it. What it holds is at most kFor old,
// and kStale while somebody is reading it anew: a post of such an author shows, and a deleted one
// goes, so much later than one that is pushed might. A `newest_cursor` stays behind by as much. It
// never decides whom a reader follows: that says the timeline. A page that reaches deeper than
// kNewest posts of an author is pulled.
//
// While an author's shard is away none of these posts can change: their rows cannot. What was read
// last is then served for kWhileAway. The bound is for a shard that others reach and only we do
// not. Of an author of whom nothing is remembered then, or not as far as the page reaches, the page
// has no posts. In both cases it is incomplete.
//
// One thread at a time reads an author anew; the others are served what there is, or pull. Bounded.
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

  // Gives `reader`'s page what it needs of marked authors, when all of that is known, or cannot be
  // known while their shards are away.
  void Serve(timeline::PageRead& read, UserId reader, Time now);
  // Reads anew what the page needs and nobody else is reading, then serves the page. What cannot be
  // read is left to the page's own pull, which needs no shard that is known to be away. Blocks.
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

  // Of each author; null: they are to be read.
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
