// An event about a post in words. Pure; any thread.
#pragma once

#include <string>

#include "fanline/model/event.h"

namespace fanline::feedctl {

// "post.hidden post 77 of author 5, version 2"
std::string Describe(const FeedEvent& event);

}  // namespace fanline::feedctl
