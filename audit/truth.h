// What the pages of some readers should show, by brute force: all posts of everybody they follow,
// in flat arrays in memory (16 bytes an edge, 32 a post while it is filled). Pushed posts belong in
// a reader's timeline; those that are merged at read come from beside it.
//
// Filled shard by shard, each Part by one thread; then constant and safe for any thread. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fanline/model/ids.h"
#include "fanline/model/item.h"
#include "fanline/ports/reader_ports.h"

namespace fanline::audit {

class TimelineTruth {
 public:
  // What one shard holds, in any order. `readers` is ascending and outlives it.
  class Part {
   public:
    explicit Part(const std::vector<UserId>& readers) : readers_(&readers) {}
    // Dropped if `reader` is not one of them. Edges mostly come reader by reader: the last one's
    // place is remembered.
    void AddEdge(UserId reader, UserId author) {
      if (!last_ || last_->first != reader) {
        const auto at = std::lower_bound(readers_->begin(), readers_->end(), reader);
        const bool found = at != readers_->end() && *at == reader;
        last_ = {reader, static_cast<uint32_t>(found ? at - readers_->begin() : readers_->size())};
      }
      if (last_->second < readers_->size()) edges_.emplace_back(last_->second, author);
    }
    // Visible ones only.
    void AddPost(UserId author, Item item, bool pushed = true) {
      posts_.emplace_back(PostsOf{author, pushed}, item);
    }
    // Followers' timelines may mark the author; if announced, all must.
    void AddMarked(UserId author, bool announced) { marked_.emplace_back(author, announced); }

   private:
    friend class TimelineTruth;
    const std::vector<UserId>* readers_;
    std::vector<std::pair<uint32_t, UserId>> edges_;  // index of the reader, author
    std::vector<std::pair<PostsOf, Item>> posts_;
    std::vector<std::pair<UserId, bool>> marked_;
    std::optional<std::pair<UserId, uint32_t>> last_;  // the last reader looked up, and its index
  };

  // `own_posts`: home timelines hold the reader's own posts.
  TimelineTruth(const std::vector<UserId>& readers, std::vector<Part> parts, bool own_posts) {
    for (const UserId reader : readers) {
      if (own_posts) parts.front().AddEdge(reader, reader);
    }
    TakePosts(parts);
    TakeMarks(parts);
    TakeEdges(readers.size(), parts);
  }

  // Items of reader number `index` strictly newer than `floor`, pushed or merged at read, in
  // Before's order. `out` is overwritten.
  void Expected(size_t index, Floor floor, std::vector<Item>* out) const {
    out->clear();
    for (const uint32_t number : OutboxesOf(index)) AppendNewer(outboxes_[number], floor, out);
    std::sort(out->begin(), out->end(), Before);
  }

  // Appends the author's posts strictly newer than `floor` that are merged at read, in Before's
  // order, whoever follows.
  void Merged(UserId author, Floor floor, std::vector<Item>* out) const {
    const PostsOf merged{author, false};
    const auto outbox =
        std::lower_bound(outboxes_.begin(), outboxes_.end(), merged,
                         [](const Outbox& box, const PostsOf& of) { return box.of < of; });
    if (outbox != outboxes_.end() && outbox->of == merged) AppendNewer(*outbox, floor, out);
  }

  // Marks of reader number `index`, ascending: (author, whether the mark must be there).
  std::vector<std::pair<UserId, bool>> MarksOf(size_t index) const {
    std::vector<std::pair<UserId, bool>> marks;
    const auto reader = static_cast<uint32_t>(index);
    for (auto at = std::lower_bound(marks_.begin(), marks_.end(), std::pair(reader, 0u));
         at != marks_.end() && at->first == reader; ++at) {
      marks.push_back(marked_[at->second]);
    }
    return marks;
  }

  // The followed author of the post; none if it is by nobody the reader follows.
  std::optional<UserId> AuthorOf(size_t index, const Item& item) const {
    for (const uint32_t number : OutboxesOf(index)) {
      const Outbox& outbox = outboxes_[number];
      const auto begin = posts_.begin() + static_cast<ptrdiff_t>(outbox.begin);
      const auto end = posts_.begin() + static_cast<ptrdiff_t>(outbox.end);
      if (std::binary_search(begin, end, item, Before)) return outbox.of.author;
    }
    return std::nullopt;
  }

  // Newest first, then by number: a cheaper order than IsNewer, for comparing sets.
  static bool Before(const Item& a, const Item& b) {
    return a.created_at != b.created_at ? a.created_at > b.created_at : a.post < b.post;
  }

 private:
  struct Outbox {
    PostsOf of;
    size_t begin = 0;  // posts_[begin, end), in Before's order
    size_t end = 0;
  };

  void TakePosts(std::vector<Part>& parts) {
    std::vector<std::pair<PostsOf, Item>> all;
    for (Part& part : parts) {
      all.insert(all.end(), part.posts_.begin(), part.posts_.end());
      part.posts_ = {};
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : Before(a.second, b.second);
    });
    posts_.reserve(all.size());
    for (const auto& [of, item] : all) {
      if (outboxes_.empty() || outboxes_.back().of != of) {
        outboxes_.push_back({of, posts_.size(), posts_.size()});
      }
      posts_.push_back(item);
      outboxes_.back().end = posts_.size();
    }
  }
  // Marked authors are few: each edge is looked up among them.
  void TakeMarks(const std::vector<Part>& parts) {
    for (const Part& part : parts) {
      marked_.insert(marked_.end(), part.marked_.begin(), part.marked_.end());
    }
    std::sort(marked_.begin(), marked_.end());
    for (const Part& part : parts) {
      for (const auto& [reader, author] : part.edges_) {
        const auto at = std::lower_bound(marked_.begin(), marked_.end(), std::pair(author, false));
        if (at == marked_.end() || at->first != author) continue;
        marks_.emplace_back(reader, static_cast<uint32_t>(at - marked_.begin()));
      }
    }
    std::sort(marks_.begin(), marks_.end());
  }
  void TakeEdges(size_t readers, const std::vector<Part>& parts) {
    std::vector<std::pair<uint32_t, uint32_t>> edges;  // reader, outbox
    for (const Part& part : parts) {
      for (const auto& [reader, author] : part.edges_) {
        // An author's posts that are merged at read come first (PostsOf's order).
        auto outbox =
            std::lower_bound(outboxes_.begin(), outboxes_.end(), author,
                             [](const Outbox& box, UserId id) { return box.of.author < id; });
        for (; outbox != outboxes_.end() && outbox->of.author == author; ++outbox) {
          edges.emplace_back(reader, static_cast<uint32_t>(outbox - outboxes_.begin()));
        }
      }
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    followed_.reserve(edges.size());
    for (const auto& [reader, outbox] : edges) {
      followed_begin_.resize(reader + size_t{1}, followed_.size());
      followed_.push_back(outbox);
    }
    followed_begin_.resize(readers + 1, followed_.size());
  }
  std::span<const uint32_t> OutboxesOf(size_t index) const {
    return std::span(followed_).subspan(followed_begin_[index],
                                        followed_begin_[index + 1] - followed_begin_[index]);
  }
  void AppendNewer(const Outbox& outbox, Floor floor, std::vector<Item>* out) const {
    const auto begin = posts_.begin() + static_cast<ptrdiff_t>(outbox.begin);
    const auto end =
        std::partition_point(begin, posts_.begin() + static_cast<ptrdiff_t>(outbox.end),
                             [floor](const Item& item) { return item.created_at > floor; });
    out->insert(out->end(), begin, end);
  }

  std::vector<Item> posts_;
  std::vector<std::pair<UserId, bool>> marked_;       // by author
  std::vector<std::pair<uint32_t, uint32_t>> marks_;  // reader, index in marked_
  std::vector<Outbox> outboxes_;                      // by author, one or two each
  std::vector<uint32_t> followed_;                    // outboxes, reader by reader
  std::vector<size_t> followed_begin_;  // reader i has followed_[begin[i], begin[i + 1])
};

// Appends how one timeline differs from what it should be. Both are in Before's order.
inline void Differences(std::span<const Item> expected, std::span<const Item> actual,
                        std::vector<Item>* missing, std::vector<Item>* extra) {
  std::set_difference(expected.begin(), expected.end(), actual.begin(), actual.end(),
                      std::back_inserter(*missing), TimelineTruth::Before);
  std::set_difference(actual.begin(), actual.end(), expected.begin(), expected.end(),
                      std::back_inserter(*extra), TimelineTruth::Before);
}

}  // namespace fanline::audit
