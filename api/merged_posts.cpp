#include "api/merged_posts.h"

#include <algorithm>
#include <utility>

namespace fanline::api {
namespace {

Item ItemAt(const Position& place) { return {place.post, place.created_at}; }

}  // namespace

void MergedPosts::Serve(timeline::PageRead& read, Time now) {
  const timeline::Beside* wanted = read.beside();
  if (wanted == nullptr) return;
  const Found found = Find(wanted->authors, now);
  if (found.unknown) return;
  if (auto items = Merge(found.posts, *wanted)) read.OnBeside(std::move(*items), found.incomplete);
}

MergedPosts::Found MergedPosts::Find(const std::vector<UserId>& authors, Time now) {
  Found found;
  const std::lock_guard lock(mutex_);
  for (const UserId author : authors) {
    const auto at = entries_.find(author);
    if (at == entries_.end()) {
      found.unknown = true;
      continue;
    }
    const auto& [posts, since, failed] = at->second;
    const bool loading = since && now - *since < kStale;
    const Duration age = posts ? now - posts->read_at : kWhileAway;
    const bool silent = failed && (loading || now - *failed < kFor);
    if (age < (loading ? kStale : kFor) || (silent && age < kWhileAway)) {
      found.posts.push_back(posts);
      found.incomplete |= age >= kStale;
    } else {
      found.unknown |= !silent;
      found.incomplete |= silent;
    }
  }
  return found;
}

std::vector<UserId> MergedPosts::Claim(const std::vector<UserId>& authors, Time now) {
  std::vector<UserId> claimed;
  const std::lock_guard lock(mutex_);
  if (entries_.size() + authors.size() > kMost) {
    std::erase_if(entries_, [&](const auto& entry) {
      const auto& [posts, loading, failed] = entry.second;
      return !loading && (!posts || now - posts->read_at >= kFor);
    });
  }
  for (const UserId author : authors) {
    if (entries_.size() >= kMost && !entries_.contains(author)) continue;
    Entry& entry = entries_[author];
    const bool fresh = entry.posts && now - entry.posts->read_at < kFor;
    const bool silent = entry.failed && now - *entry.failed < kFor;
    const bool loading = entry.loading && now - *entry.loading < kStale;
    if (loading || fresh || silent) continue;
    entry.loading = now;
    claimed.push_back(author);
  }
  return claimed;
}

ReadItems MergedPosts::Request(UserId author, const ShardMap& map) {
  return {
      .shard = map.ShardOf(author), .posts = {{author, false}}, .limit = kNewest, .proved = true};
}

void MergedPosts::Put(UserId author, const ItemsAnswered& reply, Time asked) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[author];
  entry.loading.reset();
  entry.failed = asked;
  if (!reply.status.done()) return;
  entry.failed.reset();
  entry.posts =
      std::make_shared<Posts>(Posts{reply.read.items, reply.read.items.size() < kNewest, asked});
}

// The merged posts; nothing if the page reaches deeper than an author's entry.
std::optional<std::vector<Item>> MergedPosts::Merge(
    const std::vector<std::shared_ptr<const Posts>>& posts, const timeline::Beside& wanted) {
  std::vector<Item> items;
  for (const auto& of_one : posts) {
    auto at = of_one->items.begin();
    const auto end = of_one->items.end();
    if (wanted.after) {
      at = std::partition_point(
          at, end, [&](const Item& item) { return !IsNewer(ItemAt(*wanted.after), item); });
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
  return items;
}

}  // namespace fanline::api
