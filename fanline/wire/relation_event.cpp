#include "fanline/wire/relation_event.h"

#include "fanline/wire/event_form.h"
#include "fanline/wire/event_json.h"
#include "fanline/wire/event_proto.h"
#include "schemas/proto/relation_event.pb.h"

namespace fanline {
namespace {

constexpr const char* kNames[] = {"relation.follow", "relation.unfollow"};

constexpr NumberField kSrc = IdField("src");
constexpr NumberField kDst = IdField("dst");
constexpr NumberField kVersion{"version", 1, UINT64_MAX,
                               "the edge's own version from 1 on, growing with each change"};

constexpr NameField kDelivery{"delivery", kDeliveries};

Decoded<RelationEvent> ReadEvent(RelationEventKind kind, const ReadNumber& read) {
  uint64_t src = 0, dst = 0, version = 0;
  if (auto refused = read(kSrc, &src)) return *refused;
  if (auto refused = read(kDst, &dst)) return *refused;
  if (src == dst) {
    return Refuse(kDst.name, std::to_string(dst) + ", which is src too", "another user's id");
  }
  if (auto refused = read(kVersion, &version)) return *refused;
  return RelationEvent{kind, {UserId{src}, UserId{dst}}, version, {}};
}

Decoded<RelationEvent> DecodeJson(std::string_view value) {
  JsonEvent json{kSrc.name, kDst.name, kVersion.name, kDelivery.name};
  size_t kind = 0;
  if (auto refused = json.Open(value, kNames, &kind)) return *refused;
  auto decoded = ReadEvent(
      static_cast<RelationEventKind>(kind),
      [&](const NumberField& field, uint64_t* number) { return json.Read(field, number); });
  auto* event = std::get_if<RelationEvent>(&decoded);
  if (event == nullptr || event->kind != RelationEventKind::kFollow) return decoded;
  std::optional<size_t> delivery;
  if (auto refused = json.Read(kDelivery, &delivery)) return *refused;
  if (delivery) event->delivery = DeliveryOf(*delivery);
  return decoded;
}

Decoded<RelationEvent> WithDelivery(Decoded<RelationEvent> decoded, v1::RelationDelivery found) {
  auto* event = std::get_if<RelationEvent>(&decoded);
  if (event == nullptr || found == v1::RELATION_DELIVERY_UNSPECIFIED) return decoded;
  event->delivery = DeliveryOf(static_cast<uint64_t>(found - v1::RELATION_DELIVERY_ALL));
  if (event->delivery) return decoded;
  return Refuse(kDelivery.name, std::to_string(found), "one of " + AllOf(kDelivery.names));
}

template <class Message>
Decoded<RelationEvent> ReadMessage(RelationEventKind kind, const Message& message) {
  return ReadEvent(kind, [&](const NumberField& field, uint64_t* number) {
    const std::string_view name = field.name;
    return ReadProtoNumber(name == kSrc.name   ? message.src()
                           : name == kDst.name ? message.dst()
                                               : message.version(),
                           field, number);
  });
}

Decoded<RelationEvent> DecodeProto(std::string_view value) {
  v1::RelationEvent message;
  if (auto refused = OpenProto(value, &message)) return *refused;
  switch (message.event_case()) {
    case v1::RelationEvent::kFollow:
      return WithDelivery(ReadMessage(RelationEventKind::kFollow, message.follow()),
                          message.follow().delivery());
    case v1::RelationEvent::kUnfollow:
      return ReadMessage(RelationEventKind::kUnfollow, message.unfollow());
    case v1::RelationEvent::EVENT_NOT_SET:
      break;
  }
  return RefuseNoEvent(message, kNames);
}

}  // namespace

Decoded<RelationEvent> DecodeRelationEvent(std::string_view value, std::string_view content_type) {
  const auto form = FormOf(value, content_type);
  if (const auto* refused = std::get_if<Rejection>(&form)) return *refused;
  return std::get<EventForm>(form) == EventForm::kJson ? DecodeJson(value) : DecodeProto(value);
}

}  // namespace fanline
