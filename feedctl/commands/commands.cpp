#include "feedctl/commands/commands.h"

namespace fanline::feedctl {

// Each is defined in a file in this folder.
extern const Row kDoctor;
extern const Row kInit;
extern const Row kMigrate;
extern const Row kTopicsCreate;
extern const Row kImport;
extern const Row kPublish;
extern const Row kAuthorMode;
extern const Row kRelationsShow;
extern const Row kRelationsMode;
extern const Row kRelationsReconciler;
extern const Row kRelationsCounters;
extern const Row kAudit;
extern const Row kRanges;
extern const Row kTimelinesDrop;
extern const Row kDlqList;
extern const Row kDlqReplay;

namespace {

constexpr Row kAuthor{"author", "says how an author's posts reach timelines"};
constexpr Row kTopics{"topics", "creates what Kafka needs"};
constexpr Row kTimelines{"timelines", "looks after what Redis holds"};
constexpr Row kRelations{"relations", "looks at who follows whom, and says how it is kept right"};
constexpr Row kDlq{"dlq", "looks at what could not be processed, and has it processed again"};

constexpr const Row* kCommands[] = {
    // Setting up
    &kInit, &kMigrate, &kTopics, &kTopicsCreate, &kImport,
    // Looking after it
    &kDoctor,
    // Posts
    &kPublish, &kAuthor, &kAuthorMode,
    // Relations
    &kRelations, &kRelationsShow, &kRelationsMode, &kRelationsReconciler, &kRelationsCounters,
    // Timelines
    &kAudit, &kRanges, &kTimelines, &kTimelinesDrop,
    // Dead letters
    &kDlq, &kDlqList, &kDlqReplay};

}  // namespace

std::span<const Row* const> Commands() { return kCommands; }

}  // namespace fanline::feedctl
