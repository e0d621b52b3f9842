// How many followers the users of a file have.
#pragma once

#include "feedctl/capacity/audience.h"
#include "feedctl/support/line_reader.h"

namespace fanline::feedctl {

// Every line holds one number, the followers of a user, or every line an edge as feedctl import
// takes it (who follows, and whom); '#' begins a comment. Repeated edges count again. Failure 65,
// naming file and line, for anything else, and when nobody is named.
[[nodiscard]] Followers ReadFollowers(LineReader& lines);

}  // namespace fanline::feedctl
