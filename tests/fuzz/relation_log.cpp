// relation-log: both messages.
#include "fanline/wire/relation_log.h"

#include "fanline/wire/edge_fold.h"
#include "tests/fuzz/refusals.h"
#include "tests/fuzz/target.h"

using namespace fanline;

FUZZ_TARGET(relation_log) {
  const auto decoded = DecodeRelationMessage(bytes);
  if (const auto* refused = std::get_if<Rejection>(&decoded)) return fuzz::CheckReason(*refused);
  const auto& message = std::get<RelationMessage>(decoded);
  const EdgeKey edge = KeyOf(message);
  FANLINE_CHECK(IsValidId(Raw(edge.src)) && IsValidId(Raw(edge.dst)), "ids are valid");
  FANLINE_CHECK(edge.src != edge.dst, "an edge of two users");
  FANLINE_CHECK(fuzz::IsExactly(DecodeRelationMessage(EncodeRelationMessage(message)), message),
                "the same when sent again");
  const auto* written = std::get_if<EdgeWritten>(&message);
  FANLINE_CHECK((written != nullptr ? written->edge.ver : std::get<EdgeMirrored>(message).ver) > 0,
                "a version");
  if (written == nullptr) return;
  FANLINE_CHECK(written->edge.pos >= 0, "a position from 1970 on");
  const Folded folded = Fold({&written->edge, 1}, {});
  FANLINE_CHECK(folded.rows.size() == 1 && folded.rows[0] == written->edge,
                "a first row is written");
  FANLINE_CHECK(Fold({&written->edge, 1}, folded.rows).rows.empty(), "and not again");
}
