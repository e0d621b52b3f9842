#include "api/merged_posts.h"

#include <algorithm>
#include <utility>

namespace fanline::api {

using timeline::ItemAt;

std::vector<UserId> MergedPosts::Serve(timeline::PageRead& read, Time now, bool waited) {
  const timeline::Beside* wanted = read.beside();
  if (wanted == nullptr) return {};
  Found found = Find(wanted->authors, now, waited);
  if (found.no_room || !found.unknown.empty()) return std::move(found.unknown);
  if (auto merged = Merge(found.posts, *wanted)) {
    read.OnBeside(std::move(merged->items), found.incomplete, std::move(merged->in_front));
  }
  return {};
}

MergedPosts::Found MergedPosts::Find(const std::vector<UserId>& authors, Time now, bool waited) {
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

bool MergedPosts::HasRoom(Time now) {
  if (entries_.size() < kMost) return true;
  std::erase_if(entries_, [&](const auto& each) {
    const Entry& entry = each.second;
    return !entry.loading && (!entry.posts || now - entry.posts->read_at >= kFor);
  });
  return entries_.size() < kMost;
}

bool MergedPosts::Await(UserId author, uint64_t wait, Time now) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[author];
  entry.waits.push_back(wait);
  if (entry.loading && now - *entry.loading < kStale) return false;
  entry.loading = now;
  return true;
}

ReadItems MergedPosts::Request(UserId author, const ShardMap& map) {
  return {
      .shard = map.ShardOf(author), .posts = {{author, false}}, .limit = kNewest, .proved = true};
}

// An earlier request may be answered after a later one.
std::vector<uint64_t> MergedPosts::Put(UserId author, const ItemsAnswered& reply, Time asked) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[author];
  const bool latest = entry.loading == asked;
  if (latest) entry.loading.reset();
  if (!reply.status.done()) {
    if (!latest) return {};
    entry.failed = asked;
  } else if (!entry.posts || entry.posts->read_at < asked) {
    entry.failed.reset();
    entry.posts =
        std::make_shared<Posts>(Posts{reply.read.items, reply.read.items.size() < kNewest, asked});
  }
  if (!latest && entry.loading) return {};  // they wait for the later request
  return std::exchange(entry.waits, {});
}

// The merged posts; nothing if the page reaches deeper than an author's entry.
std::optional<MergedPosts::Merged> MergedPosts::Merge(
    const std::vector<std::shared_ptr<const Posts>>& posts, const timeline::Beside& wanted) {
  Merged merged;
  std::vector<Item>& items = merged.items;
  for (const auto& of_one : posts) {
    auto at = of_one->items.begin();
    const auto end = of_one->items.end();
    if (wanted.after) {
      at = std::partition_point(
          at, end, [&](const Item& item) { return !IsNewer(ItemAt(*wanted.after), item); });
    }
    if (wanted.in_front_of) {  // which is `after`
      merged.in_front.insert(merged.in_front.end(), of_one->items.begin(), at);
    }
    for (uint32_t taken = 0; at != end && taken < wanted.want; ++at, ++taken) {
      if (wanted.until && !IsNewer(*at, ItemAt(*wanted.until))) break;
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
    deepest = ItemAt(*wanted.until);
  }
  for (const auto& of_one : posts) {
    if (of_one->all) continue;
    if (!deepest || IsNewer(of_one->items.back(), *deepest)) return std::nullopt;
  }
  return merged;
}

}  // namespace fanline::api
