// Binary Protobuf (schemas/proto/feed_event.proto). proto3 cannot tell 0 from absent, and bytes
// cut off at a field's end still parse: so every field an event needs must be there and not 0.
#include <google/protobuf/unknown_field_set.h>

#include "fanline/event_fields.h"
#include "schemas/proto/feed_event.pb.h"

namespace fanline {
namespace {

std::optional<Rejection> ReadProtoNumber(uint64_t found, const NumberField& field,
                                         uint64_t* number) {
  if (found == 0) return RefuseMissing(field.name, field.send);
  *number = found;
  return CheckRange(field, found);
}

// The number `field` asks for, out of the message of one event; `last` is its third one.
DecodedEvent ReadMessage(EventKind kind, uint64_t post, uint64_t author, uint64_t last) {
  return ReadEvent(kind, [&](const NumberField& field, uint64_t* number) {
    const std::string_view name = field.name;
    return ReadProtoNumber(name == "post_id"     ? post
                           : name == "author_id" ? author
                                                 : last,
                           field, number);
  });
}

template <class Message>
DecodedEvent ReadVersioned(EventKind kind, const Message& message) {
  return ReadMessage(kind, message.post_id(), message.author_id(), message.version());
}

template <class Message>
void WriteIds(const FeedEvent& event, Message* message) {
  message->set_post_id(Raw(event.post));
  message->set_author_id(Raw(event.author));
}

template <class Message>
void WriteVersioned(const FeedEvent& event, Message* message) {
  WriteIds(event, message);
  message->set_version(event.version);
}

Rejection RefuseNoEvent(const v1::FeedEvent& message) {
  const std::string send = "one of " + AllEventNames();
  const auto& unknown = message.GetReflection()->GetUnknownFields(message);
  if (unknown.empty()) return RefuseMissing("event", send);
  return Refuse("event", "field " + std::to_string(unknown.field(0).number()), send);
}

}  // namespace

DecodedEvent DecodeEventProto(std::string_view value) {
  v1::FeedEvent message;
  if (!message.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
    return Refuse("value", "no Protobuf: " + Quoted(value),
                  "a whole fanline.v1.FeedEvent (JSON starts with '{')");
  }
  uint64_t version = 0;
  if (auto refused = ReadProtoNumber(message.schema_version(), kSchemaVersionField, &version)) {
    return *refused;
  }
  switch (message.event_case()) {
    case v1::FeedEvent::kPublished: {
      const auto& published = message.published();
      if (published.created_at_ms() < 0) {
        return Refuse("created_at_ms", std::to_string(published.created_at_ms()),
                      "milliseconds since 1970");
      }
      return ReadMessage(EventKind::kPublished, published.post_id(), published.author_id(),
                         static_cast<uint64_t>(published.created_at_ms()));
    }
    case v1::FeedEvent::kDeleted:
      return ReadMessage(EventKind::kDeleted, message.deleted().post_id(),
                         message.deleted().author_id(), 0);
    case v1::FeedEvent::kHidden:
      return ReadVersioned(EventKind::kHidden, message.hidden());
    case v1::FeedEvent::kUnhidden:
      return ReadVersioned(EventKind::kUnhidden, message.unhidden());
    case v1::FeedEvent::kEdited:
      return ReadVersioned(EventKind::kEdited, message.edited());
    case v1::FeedEvent::EVENT_NOT_SET:
      break;
  }
  return RefuseNoEvent(message);
}

std::string EncodeEventProto(const FeedEvent& event) {
  v1::FeedEvent message;
  message.set_schema_version(kEventSchemaVersion);
  switch (event.kind) {
    case EventKind::kPublished:
      WriteIds(event, message.mutable_published());
      message.mutable_published()->set_created_at_ms(event.created_at);
      break;
    case EventKind::kDeleted:
      WriteIds(event, message.mutable_deleted());
      break;
    case EventKind::kHidden:
      WriteVersioned(event, message.mutable_hidden());
      break;
    case EventKind::kUnhidden:
      WriteVersioned(event, message.mutable_unhidden());
      break;
    case EventKind::kEdited:
      WriteVersioned(event, message.mutable_edited());
      break;
  }
  return message.SerializeAsString();
}

}  // namespace fanline
