// The Protobuf form of any event, behind the codecs. proto3 cannot tell 0 from absent, and bytes
// cut off at a field's end still parse: so every field an event needs must be there and not 0.
#pragma once

#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include <optional>
#include <string>
#include <string_view>

#include "fanline/wire/event_form.h"

namespace fanline {

[[nodiscard]] inline std::optional<Rejection> ReadProtoNumber(uint64_t found,
                                                              const NumberField& field,
                                                              uint64_t* number) {
  if (found == 0) return RefuseMissing(field.name, field.send);
  *number = found;
  return CheckRange(field, found);
}

// A message that has the member schema_version and one of several events.
template <class Message>
[[nodiscard]] std::optional<Rejection> OpenProto(std::string_view value, Message* message) {
  if (!message->ParseFromArray(value.data(), static_cast<int>(value.size()))) {
    return Refuse("value", "no Protobuf: " + Quoted(value),
                  "a whole " + message->GetTypeName() + " (JSON starts with '{')");
  }
  uint64_t version = 0;
  return ReadProtoNumber(message->schema_version(), kSchemaVersionField, &version);
}

// For a message with none of the events we know.
inline Rejection RefuseNoEvent(const google::protobuf::Message& message, EventNames names) {
  const std::string send = "one of " + AllOf(names);
  const auto& unknown = message.GetReflection()->GetUnknownFields(message);
  if (unknown.empty()) return RefuseMissing("event", send);
  return Refuse("event", "field " + std::to_string(unknown.field(0).number()), send);
}

}  // namespace fanline
