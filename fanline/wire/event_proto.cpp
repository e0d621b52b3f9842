#include "fanline/wire/event_proto.h"

#include <google/protobuf/unknown_field_set.h>

#include <string>

namespace fanline {

std::optional<Rejection> ReadProtoNumber(uint64_t found, const NumberField& field,
                                         uint64_t* number) {
  if (found == 0) return RefuseMissing(field.name, field.send);
  *number = found;
  return CheckRange(field, found);
}

Rejection RefuseNoEvent(const google::protobuf::Message& message, EventNames names) {
  const std::string send = "one of " + AllOf(names);
  const auto& unknown = message.GetReflection()->GetUnknownFields(message);
  if (unknown.empty()) return RefuseMissing("event", send);
  return Refuse("event", "field " + std::to_string(unknown.field(0).number()), send);
}

}  // namespace fanline
