// Port: bodies of posts, in the application's own table. Fanline stores none and writes none: it
// looks them up for a page, by the posts' ids.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"
#include "fanline/model/ids.h"

namespace fanline {

// A column's value: NULL, a number, or text. A number that a reader of JSON would round is text.
using BodyValue = std::variant<std::monostate, int64_t, double, std::string>;
using BodyValues = std::vector<BodyValue>;  // in the order of the configured columns

struct BodiesRead {
  // How many of the posts were looked up, from the first on; at least one. All, unless that would
  // have taken too long or too much memory.
  size_t looked_up = 0;
  std::vector<std::pair<PostId, BodyValues>> found;  // of these, in any order; the others are gone
};

// Looks up `posts`, which are not empty. kLater: the application's database is away, slow or busy.
struct ReadBodies {
  using Reply = struct BodiesAnswered;
  uint64_t id = 0;
  Shard shard = 0;  // there is one
  std::vector<PostId> posts = {};
};
struct BodiesAnswered {
  uint64_t id = 0;
  Status status;
  BodiesRead read = {};
};

}  // namespace fanline
