// For tests: the events that applications' producers send, in the forms that fanline/ only reads.
#pragma once

#include <string>

#include "fanline/model/event.h"
#include "fanline/wire/relation_event.h"

namespace fanline::testing {

std::string EncodeEventProto(const FeedEvent& event);
std::string EncodeRelationEventJson(const RelationEvent& event);
std::string EncodeRelationEventProto(const RelationEvent& event);

}  // namespace fanline::testing
