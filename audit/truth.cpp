#include "audit/truth.h"

#include <algorithm>
#include <iterator>

namespace fanline::audit {

// Edges mostly come reader by reader: the last one's place is remembered.
std::optional<uint32_t> TimelineTruth::Part::IndexOf(UserId reader) {
  if (!last_ || last_->first != reader) {
    const auto at = std::lower_bound(readers_->begin(), readers_->end(), reader);
    const bool found = at != readers_->end() && *at == reader;
    last_ = {reader, static_cast<uint32_t>(found ? at - readers_->begin() : readers_->size())};
  }
  return last_->second < readers_->size() ? std::optional(last_->second) : std::nullopt;
}

void TimelineTruth::Part::AddEdge(UserId reader, UserId author, bool reposts) {
  if (const auto index = IndexOf(reader)) edges_.push_back({*index, reposts, author});
}

void TimelineTruth::Part::AddMutes(UserId reader, uint64_t mark) {
  if (const auto index = IndexOf(reader)) mutes_.emplace_back(*index, mark);
}

void TimelineTruth::Part::AddPost(const Item& item, bool pushed) {
  posts_.emplace_back(item, pushed);
}

TimelineTruth::TimelineTruth(const std::vector<UserId>& readers, std::vector<Part> parts,
                             bool own_posts)
    : mutes_(readers.size()) {
  for (const UserId reader : readers) {
    if (own_posts) parts.front().AddEdge(reader, reader);
  }
  for (const Part& part : parts) {
    for (const auto& [reader, mark] : part.mutes_) mutes_[reader] = mark;
  }
  TakePosts(parts);
  TakeMarks(parts);
  TakeEdges(readers.size(), parts);
}

void TimelineTruth::TakePosts(std::vector<Part>& parts) {
  std::vector<std::pair<Item, bool>> all;
  for (Part& part : parts) {
    all.insert(all.end(), part.posts_.begin(), part.posts_.end());
    part.posts_ = {};
  }
  const auto half = [](const auto& post) { return PostsOf{post.first.author, post.second}; };
  std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
    return half(a) != half(b) ? half(a) < half(b) : Before(a.first, b.first);
  });
  posts_.reserve(all.size());
  for (const auto& post : all) {
    const PostsOf of = half(post);
    if (outboxes_.empty() || outboxes_.back().of != of) {
      outboxes_.push_back({of, posts_.size(), posts_.size()});
    }
    posts_.push_back(post.first);
    outboxes_.back().end = posts_.size();
  }
}

// Marked authors are few: each edge is looked up among them.
void TimelineTruth::TakeMarks(const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    marked_.insert(marked_.end(), part.marked_.begin(), part.marked_.end());
  }
  std::sort(marked_.begin(), marked_.end());
  for (const Part& part : parts) {
    for (const auto& [reader, reposts, author] : part.edges_) {
      const auto at = std::lower_bound(marked_.begin(), marked_.end(), std::pair(author, false));
      if (at == marked_.end() || at->first != author) continue;
      marks_.push_back({reader, static_cast<uint32_t>(at - marked_.begin()), reposts});
    }
  }
  std::sort(marks_.begin(), marks_.end());
}

std::vector<std::pair<Mark, bool>> TimelineTruth::MarksOf(size_t index) const {
  std::vector<std::pair<Mark, bool>> marks;
  const auto reader = static_cast<uint32_t>(index);
  for (auto at = std::lower_bound(marks_.begin(), marks_.end(), Marked{reader, 0, false});
       at != marks_.end() && at->reader == reader; ++at) {
    const auto& [author, required] = marked_[at->author];
    marks.emplace_back(Mark{author, !at->reposts}, required);
  }
  return marks;
}

void TimelineTruth::TakeEdges(size_t readers, const std::vector<Part>& parts) {
  std::vector<std::pair<uint32_t, Followed>> edges;  // by reader
  for (const Part& part : parts) {
    for (const auto& [reader, reposts, author] : part.edges_) {
      // An author's posts that are merged at read come first (PostsOf's order).
      auto outbox =
          std::lower_bound(outboxes_.begin(), outboxes_.end(), author,
                           [](const Outbox& box, UserId id) { return box.of.author < id; });
      for (; outbox != outboxes_.end() && outbox->of.author == author; ++outbox) {
        edges.emplace_back(reader,
                           Followed{static_cast<uint32_t>(outbox - outboxes_.begin()), reposts});
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

std::span<const TimelineTruth::Followed> TimelineTruth::OutboxesOf(size_t index) const {
  return std::span(followed_).subspan(followed_begin_[index],
                                      followed_begin_[index + 1] - followed_begin_[index]);
}

void TimelineTruth::AppendNewer(const Outbox& outbox, bool reposts, Floor floor,
                                std::vector<Item>* out) const {
  const auto begin = posts_.begin() + static_cast<ptrdiff_t>(outbox.begin);
  const auto end =
      std::partition_point(begin, posts_.begin() + static_cast<ptrdiff_t>(outbox.end),
                           [floor](const Item& item) { return item.created_at > floor; });
  std::copy_if(begin, end, std::back_inserter(*out),
               [reposts](const Item& item) { return reposts || !item.original; });
}

void TimelineTruth::Expected(size_t index, Floor floor, std::vector<Item>* out) const {
  out->clear();
  for (const auto& [number, reposts] : OutboxesOf(index)) {
    AppendNewer(outboxes_[number], reposts, floor, out);
  }
  std::sort(out->begin(), out->end(), Before);
}

void TimelineTruth::Merged(UserId author, bool reposts, Floor floor, std::vector<Item>* out) const {
  const PostsOf merged{author, false};
  const auto outbox =
      std::lower_bound(outboxes_.begin(), outboxes_.end(), merged,
                       [](const Outbox& box, const PostsOf& of) { return box.of < of; });
  if (outbox != outboxes_.end() && outbox->of == merged) AppendNewer(*outbox, reposts, floor, out);
}

void Differences(std::span<const Item> expected, std::span<const Item> actual,
                 std::vector<Item>* missing, std::vector<Item>* extra) {
  std::set_difference(expected.begin(), expected.end(), actual.begin(), actual.end(),
                      std::back_inserter(*missing), TimelineTruth::Before);
  std::set_difference(actual.begin(), actual.end(), expected.begin(), expected.end(),
                      std::back_inserter(*extra), TimelineTruth::Before);
}

}  // namespace fanline::audit
