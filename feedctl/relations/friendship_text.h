// How things stand between two users, and what each of them may do next, in words. Pure.
#pragma once

#include <string>

#include "fanline/model/friendship.h"

namespace fanline::feedctl {

// "user 5 has asked user 9"
std::string Standing(const Friendship& now, UserId one, UserId other);

// "user 5 may cancel; user 9 may accept or refuse"
std::string NextSteps(const Friendship& now, UserId one, UserId other);

}  // namespace fanline::feedctl
