// The names of the keys (schemas/redis/README.md), built on the stack: one is made for every
// timeline of every call. The tag in braces puts all keys of a bucket into one Cluster slot.
#pragma once

#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "fanline/base/check.h"
#include "fanline/model/bucket.h"
#include "fanline/model/ids.h"

namespace fanline::redis {

class Key {
 public:
  static Key Timeline(Bucket bucket, UserId reader) { return Key("tl:{", bucket, Raw(reader)); }
  static Key Timeline(UserId reader) { return Timeline(BucketOf(reader), reader); }
  static Key Live(Bucket bucket) { return Key("live:{", bucket); }
  static Key Edge(Bucket bucket) { return Key("edge:{", bucket); }
  static Key Own(Bucket bucket) { return Key("own:{", bucket); }
  static Key Pos(Bucket bucket) { return Key("pos:{", bucket); }
  // Delivery bits of a sampled post, in its author's bucket.
  static Key Done(UserId author, PostId post) { return Key("done:{", BucketOf(author), Raw(post)); }

  operator std::string_view() const { return {text_, size_}; }

 private:
  Key(std::string_view head, Bucket bucket) {
    Append(head);
    Append(TagOf(bucket));
    Append("}");
  }
  Key(std::string_view head, Bucket bucket, uint64_t id) : Key(head, bucket) {
    Append(":");
    size_ = static_cast<size_t>(std::to_chars(text_ + size_, text_ + sizeof text_, id).ptr - text_);
  }
  void Append(std::string_view part) {
    std::memcpy(text_ + size_, part.data(), part.size());
    size_ += part.size();
  }

  char text_[48];  // "done:{" + 5 digits + "}:" + 20 digits fits well
  size_t size_ = 0;
};

// The reader of a timeline's key; nothing for another key, or one with another reader's tag.
inline std::optional<UserId> ReaderOfTimelineKey(std::string_view key) {
  constexpr std::string_view kHead = "tl:{";
  const size_t tag_end = key.find("}:");
  if (key.substr(0, kHead.size()) != kHead || tag_end == std::string_view::npos)
    return std::nullopt;
  const auto raw = ParseId(key.substr(tag_end + 2));
  if (!raw) return std::nullopt;
  const UserId reader{*raw};
  if (key.substr(kHead.size(), tag_end - kHead.size()) != TagOf(BucketOf(reader)))
    return std::nullopt;
  return reader;
}

}  // namespace fanline::redis
