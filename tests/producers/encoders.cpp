#include "tests/producers/encoders.h"

#include "fanline/wire/event_json.h"
#include "fanline/wire/event_wire.h"
#include "schemas/proto/feed_event.pb.h"
#include "schemas/proto/relation_event.pb.h"

namespace fanline::testing {
namespace {

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

template <class Message>
void WriteRelation(const RelationEvent& event, Message* message) {
  message->set_src(Raw(event.edge.src));
  message->set_dst(Raw(event.edge.dst));
  message->set_version(event.version);
}

}  // namespace

std::string EncodeEventProto(const FeedEvent& event) {
  v1::FeedEvent message;
  message.set_schema_version(kEventSchemaVersion);
  switch (event.kind) {
    case EventKind::kPublished:
      WriteIds(event, message.mutable_published());
      message.mutable_published()->set_created_at_ms(event.created_at);
      if (event.repost_of) {
        v1::Original& original = *message.mutable_published()->mutable_repost_of();
        original.set_post_id(Raw(event.repost_of.post));
        original.set_author_id(Raw(event.repost_of.author));
      }
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

std::string EncodeRelationEventJson(const RelationEvent& event) {
  const bool follow = event.kind == RelationEventKind::kFollow;
  JsonText text(follow ? "relation.follow" : "relation.unfollow");
  text.Id("src", Raw(event.edge.src))
      .Id("dst", Raw(event.edge.dst))
      .Number("version", event.version);
  if (event.delivery) text.Name("delivery", NameOf(*event.delivery));
  return text.Take();
}

std::string EncodeRelationEventProto(const RelationEvent& event) {
  v1::RelationEvent message;
  message.set_schema_version(kEventSchemaVersion);
  if (event.kind == RelationEventKind::kFollow) {
    WriteRelation(event, message.mutable_follow());
    if (event.delivery) {
      message.mutable_follow()->set_delivery(
          static_cast<v1::RelationDelivery>(static_cast<int>(*event.delivery) + 1));
    }
  } else {
    WriteRelation(event, message.mutable_unfollow());
  }
  return message.SerializeAsString();
}

}  // namespace fanline::testing
