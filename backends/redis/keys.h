// The names of all keys (schemas/redis/README.md): how they are made and parsed. They are built on
// the stack, since every timeline of every call needs one. The tag in braces is that of the range's
// first bucket, so that all keys of a range lie in one Cluster slot.
#pragma once

#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "backends/redis/client/options.h"
#include "fanline/base/check.h"
#include "fanline/model/bucket.h"
#include "fanline/model/ids.h"

namespace fanline::redis {

class Key {
 public:
  operator std::string_view() const { return {text_, size_}; }

 private:
  friend class Keys;
  Key(std::string_view prefix, std::string_view head, std::string_view tag) {
    Append(prefix);
    Append(head);
    Append("{");
    Append(tag);
    Append("}");
  }
  Key(std::string_view prefix, std::string_view head, std::string_view tag, uint64_t id)
      : Key(prefix, head, tag) {
    Append(":");
    size_ = static_cast<size_t>(std::to_chars(text_ + size_, text_ + sizeof text_, id).ptr - text_);
  }
  void Append(std::string_view part) {
    std::memcpy(text_ + size_, part.data(), part.size());
    size_ += part.size();
  }

  char text_[48 + kMostOfPrefix];  // "maxfloor:{" + 5 digits + "}:" + 20 digits fits well
  size_t size_ = 0;
};

// Bounds of the readers' scores in live: marks are below, and nobody is numbered so high.
inline constexpr std::string_view kAboveMarks = "(0";
inline constexpr std::string_view kAboveReaders = "9007199254740992";

// The keys of one installation. The cut of its buckets into ranges is part of every name.
class Keys {
 public:
  explicit Keys(const Options& options) : prefix_(options.key_prefix), layout_(options.partitions) {
    FANLINE_CHECK(IsKeyPrefix(prefix_), "a prefix that fits");
  }

  const RangeLayout& layout() const { return layout_; }

  // The bucket whose tag all keys of the range carry.
  Bucket Home(Range range) const { return layout_.First(range); }
  Bucket Home(UserId reader) const { return Home(layout_.RangeOf(reader)); }

  Key Timeline(Range range, UserId reader) const {
    return Key(prefix_, "tl:", Tag(range), Raw(reader));
  }
  Key Timeline(UserId reader) const { return Timeline(layout_.RangeOf(reader), reader); }
  Key Live(Range range) const { return Key(prefix_, "live:", Tag(range)); }
  Key MaxFloor(Range range) const { return Key(prefix_, "maxfloor:", Tag(range)); }
  Key Own(Range range) const { return Key(prefix_, "own:", Tag(range)); }
  Key Pos(Range range) const { return Key(prefix_, "pos:", Tag(range)); }
  // A key that never exists. While the slot moves between two nodes, a Cluster's node refuses a
  // call that names this key and others of the range, since some of the range's keys may be on the
  // other node.
  Key Nowhere(Range range) const {
    Key key(prefix_, "live:", Tag(range));
    key.Append(":none");
    return key;
  }
  // Delivery bits of a sampled post, in its author's range.
  Key Done(UserId author, PostId post) const {
    return Key(prefix_, "done:", Tag(layout_.RangeOf(author)), Raw(post));
  }

  // See installation_mark.h.
  Key Installation() const { return Key(prefix_, "installation:", Tag(0)); }

  // Patterns for SCAN: the timelines of a range, and those of all ranges.
  std::string TimelinesOf(Range range) const { return prefix_ + "tl:{" + Tag(range) + "}:*"; }
  std::string Timelines() const { return prefix_ + "tl:{*"; }

  // Whose timeline a key holds, and the range of its tag. Nothing: not a timeline's key, or its tag
  // is not a range's. A key whose reader belongs to another range was made with another number of
  // ranges.
  struct TimelineName {
    Range range = 0;
    UserId reader{};
    bool in_its_range = true;
  };
  std::optional<TimelineName> ParseTimeline(std::string_view key) const {
    const auto [tag, rest] = Split(key, "tl:");
    if (!rest.starts_with(':')) return std::nullopt;
    const auto raw = ParseId(rest.substr(1));
    if (!raw) return std::nullopt;
    const UserId reader{*raw};
    const Range own = layout_.RangeOf(reader);
    if (tag == Tag(own)) return TimelineName{own, reader, true};
    for (Range range = 0; range < static_cast<Range>(layout_.partitions()); ++range) {
      if (tag == Tag(range)) return TimelineName{range, reader, false};
    }
    return std::nullopt;
  }

  // A pattern that matches all our keys, and perhaps others.
  std::string All() const { return prefix_ + "*:{*}*"; }
  // Whether a key is ours, whatever the number of ranges it was made for. Other applications may
  // have keys such as live:{41}; only TagOf's tags are ours.
  bool IsOurs(std::string_view key) const {
    for (const std::string_view head : {"tl:", "done:"}) {
      const auto [tag, rest] = Split(key, head);
      if (IsTag(tag) && rest.starts_with(':') && AllDigits(rest.substr(1))) return true;
    }
    for (const std::string_view head : {"live:", "maxfloor:", "own:", "pos:", "installation:"}) {
      const auto [tag, rest] = Split(key, head);
      if (IsTag(tag) && rest.empty()) return true;
    }
    return false;
  }

 private:
  const std::string& Tag(Range range) const { return TagOf(Home(range)); }

  struct Parts {
    std::string_view tag, rest;  // both empty: not such a key
  };
  // prefix head{tag}rest
  Parts Split(std::string_view key, std::string_view head) const {
    if (!key.starts_with(prefix_)) return {};
    key.remove_prefix(prefix_.size());
    if (!key.starts_with(head)) return {};
    key.remove_prefix(head.size());
    const size_t end = key.find('}');
    if (key.empty() || key.front() != '{' || end == std::string_view::npos) return {};
    return {key.substr(1, end - 1), key.substr(end + 1)};
  }
  static bool IsTag(std::string_view text) {
    static const std::unordered_set<std::string_view> tags = [] {
      std::unordered_set<std::string_view> all;
      for (Bucket bucket = 0; bucket < kBuckets; ++bucket) all.insert(TagOf(bucket));
      return all;
    }();
    return tags.contains(text);
  }
  static bool AllDigits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  }

  std::string prefix_;
  RangeLayout layout_;
};

}  // namespace fanline::redis
