// Counts the followers of users from a file.
#pragma once

#include "feedctl/capacity/audience.h"
#include "feedctl/support/line_reader.h"

namespace fanline::feedctl {

// Either every line is a number, the followers of a user, or every line is an edge as for feedctl
// import (who follows, and whom). '#' begins a comment. Repeated edges count again. Failure 65,
// naming file and line, for anything else or an empty list.
[[nodiscard]] Followers ReadFollowers(LineReader& lines);

}  // namespace fanline::feedctl
