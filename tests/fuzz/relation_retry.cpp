// relation-log.retry.
#include "fanline/wire/relation_retry.h"

#include "tests/fuzz/refusals.h"
#include "tests/fuzz/target.h"

using namespace fanline;

FUZZ_TARGET(relation_retry) {
  const auto decoded = DecodeRelationRetry(bytes);
  if (const auto* refused = std::get_if<Rejection>(&decoded)) return fuzz::CheckReason(*refused);
  const auto& retry = std::get<RelationRetry>(decoded);
  FANLINE_CHECK(IsValidId(Raw(retry.edge.src)) && IsValidId(Raw(retry.edge.dst)), "ids are valid");
  FANLINE_CHECK(retry.edge.src != retry.edge.dst && retry.claim.state.ver > 0 && retry.due >= 0,
                "an entry");
  FANLINE_CHECK(fuzz::IsExactly(DecodeRelationRetry(EncodeRelationRetry(retry)), retry),
                "the same when sent again");
}
