// An operation of the API is one function in a file of this folder. It reads its request, names the
// users whose shards it needs, asks the store and answers. A new one is a file and a row in
// routes.cpp.
//
// Answers: ids and versions are decimal strings, for a reader of JSON would round them; times are
// integers, Unix milliseconds, and end in _ms.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "api/operations/asked.h"
#include "api/operations/problem.h"
#include "fanline/base/outcome.h"
#include "fanline/ports/relation_store.h"

namespace fanline::api {

using Json = nlohmann::ordered_json;

// What a call needs to know besides its request.
struct Context {
  uint64_t unix_us = 0;  // wall time
  uint32_t following_limit = 0;
};

// A request that was read.
struct Call {
  // The users whose shards are asked, first the one whose rows are read first.
  std::vector<UserId> owners;
  // Asks the store, blocking while it does; answers the body. Throws Refused, or StoreFailed.
  std::function<Json(RelationStore&, const Context&)> perform;
};

// Reads a request. Throws Refused.
using Operation = Call (*)(const Asked&);

// What the store did not do. Later: a shard is away. Never: a fault of ours, because operations
// turn users' mistakes into Refused.
struct StoreFailed {
  Status status;
};

inline void OrFail(Status status) {
  if (!status.done()) throw StoreFailed{std::move(status)};
}

}  // namespace fanline::api
