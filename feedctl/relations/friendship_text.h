// How things stand between two users, in words. Pure.
#pragma once

#include <string>

#include "fanline/model/friendship.h"

namespace fanline::feedctl {

// "user 5 has asked user 9"
std::string Standing(const Friendship& now, UserId one, UserId other);

}  // namespace fanline::feedctl
