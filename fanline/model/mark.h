// What a live timeline says of a followed author who may have posts that are merged at read.
#pragma once

#include "fanline/model/ids.h"

namespace fanline {

struct Mark {
  UserId author{};
  bool no_reposts = false;  // Delivery::kNoReposts: the reader wants this author's posts only
  friend auto operator<=>(const Mark&, const Mark&) = default;
};

}  // namespace fanline
