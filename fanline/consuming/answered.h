// Finds what a reply's request was for, by the request's id.
#pragma once

#include <cstdint>
#include <utility>

#include "fanline/base/check.h"

namespace fanline {

// Takes the request out of `requests`, a map by id: each request gets one reply.
template <typename Requests>
[[nodiscard]] typename Requests::mapped_type TakeAnswered(Requests& requests, uint64_t id) {
  auto request = requests.extract(id);
  FANLINE_CHECK(!request.empty(), "a reply to a request never sent");
  return std::move(request.mapped());
}

}  // namespace fanline
