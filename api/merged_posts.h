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

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
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
  std::vector<UserId> Serve(timeline::PageRead& read, Time now, bool waited = false) {
    const timeline::Beside* wanted = read.beside();
    if (wanted == nullptr) return {};
    Found found = Find(wanted->authors, now, waited);
    if (found.no_room || !found.unknown.empty()) return std::move(found.unknown);
    if (auto items = Merge(found.posts, *wanted))
      read.OnBeside(std::move(*items), found.incomplete);
    return {};
  }
  // The wait `wait` ends when the author's entry is renewed. True: nobody asks for it yet, so the
  // caller asks by Request, and gives the reply to Put.
  [[nodiscard]] bool Await(UserId author, uint64_t wait, Time now) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[author];
    entry.waits.push_back(wait);
    if (entry.loading && now - *entry.loading < kStale) return false;
    entry.loading = now;
    return true;
  }
  static ReadItems Request(UserId author, const ShardMap& map) {
    return {
        .shard = map.ShardOf(author), .posts = {{author, false}}, .limit = kNewest, .proved = true};
  }
  // `asked`: when Await was called. Returns the waits that end.
  // An earlier request may be answered after a later one.
  [[nodiscard]] std::vector<uint64_t> Put(UserId author, const ItemsAnswered& reply, Time asked) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[author];
    const bool latest = entry.loading == asked;
    if (latest) entry.loading.reset();
    if (!reply.status.done()) {
      if (!latest) return {};
      entry.failed = asked;
    } else if (!entry.posts || entry.posts->read_at < asked) {
      entry.failed.reset();
      entry.posts = std::make_shared<Posts>(
          Posts{reply.read.items, reply.read.items.size() < kNewest, asked});
    }
    if (!latest && entry.loading) return {};  // they wait for the later request
    return std::exchange(entry.waits, {});
  }

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

  Found Find(const std::vector<UserId>& authors, Time now, bool waited) {
    Found found;
    const std::lock_guard lock(mutex_);
    for (const UserId author : authors) {
      const auto at = entries_.find(author);
      if (at == entries_.end()) {
        if (!found.no_room) found.no_room = !HasRoom(now);
        found.unknown.push_back(author);
        continue;
      }
      auto& [posts, since, failed, waits] = at->second;
      const bool loading = since && now - *since < kStale;
      const Duration age = posts ? now - posts->read_at : kWhileAway;
      const bool fresh = age < (loading ? kStale : kFor);
      if (waited && loading && !fresh && !failed) failed = now;
      const bool silent = failed && (loading || now - *failed < kFor);
      if (fresh || (silent && age < kWhileAway)) {
        found.posts.push_back(posts);
        found.incomplete |= age >= kStale;
      } else if (silent) {
        found.incomplete = true;
      } else {
        found.unknown.push_back(author);
      }
    }
    if (found.no_room) found.unknown.clear();  // the page is pulled, so it waits for nobody
    return found;
  }
  bool HasRoom(Time now) {
    if (entries_.size() < kMost) return true;
    std::erase_if(entries_, [&](const auto& each) {
      const Entry& entry = each.second;
      return !entry.loading && (!entry.posts || now - entry.posts->read_at >= kFor);
    });
    return entries_.size() < kMost;
  }
  // The merged posts; nothing if the page reaches deeper than an author's entry.
  static std::optional<std::vector<Item>> Merge(
      const std::vector<std::shared_ptr<const Posts>>& posts, const timeline::Beside& wanted) {
    std::vector<Item> items;
    for (const auto& of_one : posts) {
      auto at = of_one->items.begin();
      const auto end = of_one->items.end();
      if (wanted.after) {
        at = std::partition_point(at, end, [&](const Item& item) {
          return !IsNewer(timeline::ItemAt(*wanted.after), item);
        });
      }
      for (uint32_t taken = 0; at != end && taken < wanted.want; ++at, ++taken) {
        if (wanted.until && !IsNewer(*at, timeline::ItemAt(*wanted.until))) break;
        items.push_back(*at);
      }
    }
    const size_t kept = std::min<size_t>(items.size(), wanted.want);
    std::partial_sort(items.begin(), items.begin() + static_cast<ptrdiff_t>(kept), items.end(),
                      IsNewer);
    items.resize(kept);
    std::optional<Item> deepest;
    if (kept == wanted.want) {
      deepest = items.back();
    } else if (wanted.until) {
      deepest = timeline::ItemAt(*wanted.until);
    }
    for (const auto& of_one : posts) {
      if (of_one->all) continue;
      if (!deepest || IsNewer(of_one->items.back(), *deepest)) return std::nullopt;
    }
    return items;
  }

  std::mutex mutex_;
  std::unordered_map<UserId, Entry> entries_;
};

}  // namespace fanline::api
