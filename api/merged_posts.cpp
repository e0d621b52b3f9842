#include "api/merged_posts.h"

#include <algorithm>
#include <utility>

namespace fanline::api {
namespace {

Item ItemAt(const Position& place) { return {place.post, place.created_at}; }

}  // namespace

void MergedPosts::Serve(timeline::PageRead& read, UserId reader, Time now) {
  const auto forgotten = [&](UserId author) {
    return away_(author) && Find({author}, now).front() == nullptr;
  };
  read.LeaveOut(reader, read.beside() != nullptr ? timeline::PageRead::Away(forgotten) : away_);
  while (const timeline::Beside* wanted = read.beside()) {
    const auto posts = Find(wanted->authors, now);
    if (std::find(posts.begin(), posts.end(), nullptr) != posts.end()) return;
    const bool old = std::any_of(posts.begin(), posts.end(), [&](const auto& of_one) {
      return now - of_one->read_at >= kStale;
    });
    if (auto items = Merge(posts, *wanted)) return read.OnBeside(std::move(*items), old);
    // The entries of authors whose shards are away may not reach far enough.
    read.LeaveOut(reader, away_);
    if (read.beside() != nullptr && read.beside()->authors.size() == posts.size()) return;
  }
}

void MergedPosts::Load(timeline::PageRead& read, UserId reader, ReaderTruth& truth, Time now) {
  const timeline::Beside* wanted = read.beside();
  if (wanted == nullptr) return;
  for (const UserId author : Claim(wanted->authors, now)) {
    ItemsRead found;
    Status status = truth.Items({{author, false}}, {}, kNewest, &found);
    if (status.done()) status = truth.Confirm();  // each alone: a shard may be away
    std::shared_ptr<Posts> posts;
    if (status.done()) {
      posts = std::make_shared<Posts>();
      posts->all = found.items.size() < kNewest;
      posts->items = std::move(found.items);
      posts->read_at = now;  // never later than the read
    }
    Put(author, std::move(posts));
  }
  Serve(read, reader, now);
  read.LeaveOut(reader, away_);
}

std::vector<std::shared_ptr<const MergedPosts::Posts>> MergedPosts::Find(
    const std::vector<UserId>& authors, Time now) {
  std::vector<std::shared_ptr<const Posts>> found(authors.size());
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < authors.size(); ++i) {
    const auto at = entries_.find(authors[i]);
    if (at == entries_.end() || !at->second.posts) continue;
    const auto& [posts, loading] = at->second;
    const Duration age = now - posts->read_at;
    const bool holds = age < (loading ? kStale : kFor) || (age < kWhileAway && away_(authors[i]));
    if (holds) found[i] = posts;
  }
  return found;
}

// The authors whose entries this thread is to renew. Their shards are not known to be away, their
// entries are not fresh, and no other thread is reading them.
std::vector<UserId> MergedPosts::Claim(const std::vector<UserId>& authors, Time now) {
  std::vector<UserId> claimed;
  const std::lock_guard lock(mutex_);
  if (entries_.size() + authors.size() > kMost) {
    std::erase_if(entries_, [&](const auto& entry) {
      const auto& [posts, loading] = entry.second;
      return !loading && (!posts || now - posts->read_at >= kFor);
    });
  }
  for (const UserId author : authors) {
    if (away_(author) || (entries_.size() >= kMost && !entries_.contains(author))) continue;
    Entry& entry = entries_[author];
    if (entry.loading || (entry.posts && now - entry.posts->read_at < kFor)) continue;
    entry.loading = true;
    claimed.push_back(author);
  }
  return claimed;
}

void MergedPosts::Put(UserId author, std::shared_ptr<const Posts> posts) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[author];
  entry.loading = false;
  if (posts) entry.posts = std::move(posts);
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
