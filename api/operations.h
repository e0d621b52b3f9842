// What each operation asks of the store, and which problem each of its refusals is.
#pragma once

#include "api/http.h"
#include "api/limits.h"
#include "api/problem.h"
#include "api/requests.h"
#include "fanline/outcome.h"
#include "fanline/relation_store.h"

namespace fanline::api {

struct Performed {
  Response response;
  Status failed;  // not done: the store's own words, which are not the client's business
};

// Blocks while the store does. `unix_ms`: wall time.
Performed Perform(const Call& call, RelationStore& store, const Limits& limits, UnixMs unix_ms);

Problem StoreAway();

}  // namespace fanline::api
