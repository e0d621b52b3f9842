// What an application that keeps its own follow graph says happened to one edge of it
// (schemas/proto/relation_event.proto): relation.follow or relation.unfollow {src, dst, version}. A
// follow may name its delivery. The version is the application's and grows per edge; the highest
// wins, so an event seen twice, late or overtaken by a newer one changes nothing. Only what a
// follow without a delivery keeps is what is there when it arrives.
//
// The forms and the strictness are those of event_wire.h. Pure; any thread.
#pragma once

#include <optional>
#include <string_view>

#include "fanline/model/edge.h"
#include "fanline/wire/event_wire.h"

namespace fanline {

enum class RelationEventKind { kFollow, kUnfollow };

struct RelationEvent {
  RelationEventKind kind = RelationEventKind::kFollow;
  EdgeKey edge;                           // two different users
  uint64_t version = 0;                   // the application's, >= 1
  std::optional<Delivery> delivery = {};  // of a follow; none: as it is, all of a new one
  friend bool operator==(const RelationEvent&, const RelationEvent&) = default;
};

// `content_type` is the header's value, empty when there is none.
Decoded<RelationEvent> DecodeRelationEvent(std::string_view value, std::string_view content_type);

}  // namespace fanline
