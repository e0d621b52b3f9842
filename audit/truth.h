// What the timelines of some readers should hold and their pages show, by brute force: all posts of
// everybody they follow, in flat arrays in memory (16 bytes an edge, 56 a post while it is filled).
// Pushed posts belong in a reader's timeline; those that are merged at read come from beside it.
// Whom a reader mutes changes neither: a timeline only names the version of these mutes.
//
// Filled shard by shard, each Part by one thread; then constant and safe for any thread. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "fanline/model/ids.h"
#include "fanline/model/item.h"
#include "fanline/model/mark.h"
#include "fanline/ports/reader_ports.h"

namespace fanline::audit {

class TimelineTruth {
 public:
  // What one shard holds, in any order. `readers` is ascending and outlives it.
  class Part {
   public:
    explicit Part(const std::vector<UserId>& readers) : readers_(&readers) {}
    // Dropped if `reader` is not one of them. `reposts`: the author's too (Delivery).
    void AddEdge(UserId reader, UserId author, bool reposts = true);
    void AddPost(const Item& item, bool pushed = true);  // visible ones only
    void AddMutes(UserId reader, uint64_t mark);         // Mutes::mark; as AddEdge
    // Followers' timelines may mark the author; if announced, all must.
    void AddMarked(UserId author, bool announced) { marked_.emplace_back(author, announced); }

   private:
    friend class TimelineTruth;
    std::optional<uint32_t> IndexOf(UserId reader);

    const std::vector<UserId>* readers_;
    struct Edge {
      uint32_t reader = 0;  // its index
      bool reposts = true;
      UserId author{};
    };
    std::vector<Edge> edges_;
    std::vector<std::pair<Item, bool>> posts_;  // whether it is pushed
    std::vector<std::pair<UserId, bool>> marked_;
    std::vector<std::pair<uint32_t, uint64_t>> mutes_;  // index of the reader, mark
    std::optional<std::pair<UserId, uint32_t>> last_;   // the last reader looked up, and its index
  };

  // `own_posts`: home timelines hold the reader's own posts.
  TimelineTruth(const std::vector<UserId>& readers, std::vector<Part> parts, bool own_posts);

  // Items of reader number `index` strictly newer than `floor`, pushed or merged at read, in
  // Before's order. `out` is overwritten.
  void Expected(size_t index, Floor floor, std::vector<Item>* out) const;

  // Appends the author's posts strictly newer than `floor` that are merged at read, in Before's
  // order, whoever follows. `reposts`: those among them, too.
  void Merged(UserId author, bool reposts, Floor floor, std::vector<Item>* out) const;

  // Marks of reader number `index`, by author: (the mark, whether it must be there).
  std::vector<std::pair<Mark, bool>> MarksOf(size_t index) const;

  // Mutes::mark of reader number `index`.
  uint64_t MutesOf(size_t index) const { return mutes_[index]; }

  // IsNewer, and then by author and original: of a post that is spelled otherwise one is missing
  // and one extra.
  static bool Before(const Item& a, const Item& b) {
    return std::tie(b.created_at, b.post, a.author, a.original) <
           std::tie(a.created_at, a.post, b.author, b.original);
  }

 private:
  struct Outbox {
    PostsOf of;
    size_t begin = 0;  // posts_[begin, end), in Before's order
    size_t end = 0;
  };

  struct Followed {
    uint32_t outbox = 0;
    bool reposts = true;
    friend auto operator<=>(const Followed&, const Followed&) = default;
  };

  void TakePosts(std::vector<Part>& parts);
  void TakeMarks(const std::vector<Part>& parts);
  void TakeEdges(size_t readers, const std::vector<Part>& parts);
  std::span<const Followed> OutboxesOf(size_t index) const;
  void AppendNewer(const Outbox& outbox, bool reposts, Floor floor, std::vector<Item>* out) const;

  std::vector<Item> posts_;
  std::vector<uint64_t> mutes_;                  // reader by reader
  std::vector<std::pair<UserId, bool>> marked_;  // by author
  struct Marked {
    uint32_t reader = 0;
    uint32_t author = 0;  // its index in marked_
    bool reposts = true;
    friend auto operator<=>(const Marked&, const Marked&) = default;
  };
  std::vector<Marked> marks_;           // reader by reader
  std::vector<Outbox> outboxes_;        // by author, one or two each
  std::vector<Followed> followed_;      // reader by reader
  std::vector<size_t> followed_begin_;  // reader i has followed_[begin[i], begin[i + 1])
};

// Appends how one timeline differs from what it should be. Both are in Before's order.
void Differences(std::span<const Item> expected, std::span<const Item> actual,
                 std::vector<Item>* missing, std::vector<Item>* extra);

}  // namespace fanline::audit
