// Topic relation-log.retry: edges to be checked later (schemas/proto/relation_retry.proto).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fanline/base/decoded.h"
#include "fanline/base/time.h"
#include "fanline/model/edge.h"
#include "fanline/model/net.h"

namespace fanline {

struct RelationRetry {
  EdgeKey edge;
  EdgeClaim claim;  // what both rows must have at least; ver >= 1
  UnixMs due = 0;   // not before
  uint32_t attempts = 0;
  uint32_t hopeless = 0;  // the last attempts in a row that were hopeless
  Net net = Net::kPair;   // what found the edge
  friend bool operator==(const RelationRetry&, const RelationRetry&) = default;
};

inline constexpr uint32_t kRelationRetrySchemaVersion = 1;
inline constexpr const char* kRelationRetryTopic = "relation-log.retry";

// Binary Protobuf.
std::string EncodeRelationRetry(const RelationRetry& retry);
// Refuses bytes that are no entry of a known version. Pure; any thread.
Decoded<RelationRetry> DecodeRelationRetry(std::string_view bytes);

}  // namespace fanline
