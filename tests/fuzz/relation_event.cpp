// An application's relation events, in both forms. The first line is the header content-type, the
// rest the value.
#include "fanline/wire/relation_event.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/refusals.h"
#include "tests/fuzz/target.h"
#include "tests/producers/encoders.h"

using namespace fanline;

FUZZ_TARGET(relation_event) {
  const std::string_view content_type = fuzz::TakeLine(bytes);
  const auto decoded = DecodeRelationEvent(bytes, content_type);
  if (const auto* refused = std::get_if<Rejection>(&decoded)) return fuzz::CheckReason(*refused);
  const auto& event = std::get<RelationEvent>(decoded);
  FANLINE_CHECK(IsValidId(Raw(event.edge.src)) && IsValidId(Raw(event.edge.dst)), "ids are valid");
  FANLINE_CHECK(event.edge.src != event.edge.dst && event.version > 0, "an edge of two users");
  for (const std::string& text : {fanline::testing::EncodeRelationEventJson(event),
                                  fanline::testing::EncodeRelationEventProto(event)}) {
    FANLINE_CHECK(fuzz::IsExactly(DecodeRelationEvent(text, {}), event),
                  "the same when sent again");
  }
}
