#include "feedctl/commands/commands.h"

namespace fanline::feedctl {
namespace {

constexpr Row kTopics{"topics", "creates what Kafka needs"};
constexpr Row kRelations{"relations", "looks at who follows whom, and says how it is kept right"};

constexpr const Row* kCommands[] = {
    // Setting up
    &kInit, &kTopics, &kTopicsCreate, &kImport,
    // Posts
    &kPublish, &kDelete, &kHide, &kUnhide, &kEdit,
    // Relations
    &kFollow, &kUnfollow, &kFriends, &kRelations, &kRelationsList, &kRelationsCheck,
    &kRelationsShow, &kRelationsMode, &kRelationsReconciler, &kRelationsCounters,
    // Timelines
    &kActivate, &kTimeline, &kAudit};

}  // namespace

std::span<const Row* const> Commands() { return kCommands; }

}  // namespace fanline::feedctl
