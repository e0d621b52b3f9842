// Topic relation-log: what happened to the two rows of an edge (schemas/proto/relation_log.proto).
// msg1 = EdgeWritten, the forward row is committed; msg2 = EdgeMirrored, the reverse row is, and
// the hint sync(src, dst) is acknowledged. A message seen twice, late or overtaken by a newer one
// does no harm: an edge's versions only grow, and a higher one stands for all below it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "fanline/base/decoded.h"
#include "fanline/model/edge.h"

namespace fanline {

struct EdgeWritten {
  Edge edge;  // ver >= 1
  // Its row of log1 on the shard of src, which is marked done once msg2 is acknowledged; 0: there
  // is none (an application that keeps its own tables).
  uint64_t log_id = 0;
  friend bool operator==(const EdgeWritten&, const EdgeWritten&) = default;
};

struct EdgeMirrored {
  EdgeKey edge;
  uint64_t ver = 0;  // the reverse row's, >= 1; may be newer than the msg1 it answers
  friend bool operator==(const EdgeMirrored&, const EdgeMirrored&) = default;
};

using RelationMessage = std::variant<EdgeWritten, EdgeMirrored>;

inline constexpr uint32_t kRelationLogSchemaVersion = 1;
inline constexpr const char* kRelationLogTopic = "relation-log";

// "src:dst" in decimal: the record's key, so that both messages meet in one partition.
std::string RelationLogKey(const EdgeKey& edge);
EdgeKey KeyOf(const RelationMessage& message);
// What it says of the edge.
EdgeClaim ClaimOf(const RelationMessage& message);

// Why such a msg1 is refused; none: DecodeRelationMessage accepts it. Pure; any thread.
std::optional<Rejection> WhyRefused(const EdgeWritten& written);

// Binary Protobuf.
std::string EncodeRelationMessage(const RelationMessage& message);
// Refuses bytes that are no message of a known version, invalid ids, equal src and dst, version 0,
// a position before 1970 and an unknown delivery. Pure; any thread.
Decoded<RelationMessage> DecodeRelationMessage(std::string_view bytes);

}  // namespace fanline
