// Which shards a request may ask something of. Pure.
#pragma once

#include "api/requests.h"
#include "api/store_pool.h"
#include "fanline/bucket.h"

namespace fanline::api {

Touched TouchedBy(const Call& call, const ShardMap& map);

}  // namespace fanline::api
