// The post that a repost shows. A repost is a post of its own, by who reposts, that names another
// one. It never shows another repost: who writes the row of a repost of a repost names what that
// one shows.
#pragma once

#include "fanline/model/ids.h"

namespace fanline {

struct Original {
  PostId post{};  // none: the post is no repost
  UserId author{};

  explicit operator bool() const { return Raw(post) != 0; }
  PostKey key() const { return {author, post}; }
  friend auto operator<=>(const Original&, const Original&) = default;
};

}  // namespace fanline
