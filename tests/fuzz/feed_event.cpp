// feed-events, in both forms. The first line is the header content-type, the rest the value.
#include "fanline/model/item.h"
#include "fanline/wire/event_codec.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/refusals.h"
#include "tests/fuzz/target.h"
#include "tests/producers/encoders.h"

using namespace fanline;

FUZZ_TARGET(feed_event) {
  const std::string_view content_type = fuzz::TakeLine(bytes);
  const auto decoded = DecodeEvent(bytes, content_type);
  if (const auto* refused = std::get_if<Rejection>(&decoded)) return fuzz::CheckReason(*refused);
  const auto& event = std::get<FeedEvent>(decoded);
  FANLINE_CHECK(IsValidId(Raw(event.post)) && IsValidId(Raw(event.author)), "ids are valid");
  const EventNumber number = TraitsOf(event.kind).number;
  FANLINE_CHECK((number == EventNumber::kCreatedAt) == (event.created_at != 0), "a time or none");
  FANLINE_CHECK((number == EventNumber::kVersion) == (event.version != 0), "a version or none");
  FANLINE_CHECK(event.created_at >= 0 && event.created_at <= kMaxCreatedAt, "a time that is exact");
  for (const std::string_view type : {kJsonContentType, std::string_view()}) {
    FANLINE_CHECK(fuzz::IsExactly(DecodeEvent(EncodeEventJson(event), type), event), "JSON");
  }
  for (const std::string_view type : {kProtoContentType, std::string_view()}) {
    FANLINE_CHECK(
        fuzz::IsExactly(DecodeEvent(fanline::testing::EncodeEventProto(event), type), event),
        "Protobuf");
  }
}
