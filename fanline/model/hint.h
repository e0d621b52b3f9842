// A hint says "look again", never what to do (topic fanout-tasks, one partition per range). A hint
// seen twice, late or together with others leads to the same timelines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "fanline/base/decoded.h"
#include "fanline/base/time.h"
#include "fanline/model/ids.h"

namespace fanline {

// The publish hints of sampled posts carry it: the pusher that finishes a part measures
// publish-to-delivery with it.
struct DeliverySample {
  uint32_t part = 0;        // the range
  uint32_t parts = 1;       // the number of hints of this publish
  UnixMs published_at = 0;  // timestamp of the event's record
  uint64_t followers = 0;   // the author's counter when it was dispatched: the size class
  friend bool operator==(const DeliverySample&, const DeliverySample&) = default;
};

struct Hint {
  UserId author{};
  // post(author, post): the state of one post may have changed.
  // sync(reader, author): whether reader follows author; if both are one, whom the reader mutes.
  struct Post {
    PostId post{};
    std::optional<DeliverySample> sample;
    // When the post was published, if the pusher is to weigh it: to count its live followers and
    // measure its delay. Else 0.
    UnixMs weighed_since = 0;
    friend bool operator==(const Post&, const Post&) = default;
  };
  struct Sync {
    UserId reader{};
    friend bool operator==(const Sync&, const Sync&) = default;
  };
  std::variant<Post, Sync> what;
  friend bool operator==(const Hint&, const Hint&) = default;

  static Hint OfPost(UserId author, PostId post, std::optional<DeliverySample> sample = {}) {
    return {author, Post{post, sample}};
  }
  static Hint OfSync(UserId reader, UserId author) { return {author, Sync{reader}}; }
};

inline constexpr uint32_t kHintSchemaVersion = 1;

// Binary Protobuf (schemas/proto/hint.proto).
std::string EncodeHint(const Hint& hint);
// Refuses bytes that are no hint of a known version. Pure; any thread.
Decoded<Hint> DecodeHint(std::string_view bytes);

}  // namespace fanline
