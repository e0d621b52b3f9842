// Relation events of an application, and two consumers of them, each the real one: events in any
// order, twice, by several producers, and some that nobody can use.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fanline/wire/relation_event.h"
#include "mirror/relation_event_consumer.h"
#include "tests/producers/encoders.h"
#include "tests/sim/reconcilers.h"
#include "tests/sim/said.h"

namespace fanline::sim {

struct EventConsumers : Reconcilers {
  using Reconcilers::Reconcilers;

  struct EventConsumer
      : ServesAll<EventConsumer, ChangeEdge, ApplyEdges, ReadMirrorMode, AppendDeadLetter>,
        Process<mirror::RelationEventConsumer, mirror::RelationEventInput> {
    EventConsumers* world = nullptr;
    mirror::Metrics metrics;
    void Serve(const ChangeEdge& request, ReplyTo<EdgeChanged> to) {
      world->SendEvent(*this, request, to);
    }
    void Serve(const ApplyEdges& request, ReplyTo<EdgesApplied> to) {
      world->Ask(*this, to, "reverse row of an event", EdgesApplied{request.id, {}, {}, 0},
                 [world = world, request] { return world->Apply(request, {}); });
    }
    void Serve(const ReadMirrorMode& request, ReplyTo<MirrorModeRead> to) {
      world->Ask(*this, to, "mode", MirrorModeRead{request.id, {}, {}}, [world = world, request] {
        const bool sync = world->character.inline_too;
        return MirrorModeRead{request.id, {}, sync ? MirrorMode::kSync : MirrorMode::kAsync};
      });
    }
    void Serve(const AppendDeadLetter& request, ReplyTo<DeadLetterAppended> to) {
      world->Ask(*this, to, "dead letter", DeadLetterAppended{request.id, {}},
                 [world = world, request] {
                   world->TakeDeadLetter(request.letter.record.value);
                   return DeadLetterAppended{request.id, {}};
                 });
    }
  };

  std::vector<std::unique_ptr<EventConsumer>> event_consumers;
  Said said;
  std::map<EdgeKey, uint64_t> newest_event;   // that the application made, of each edge
  std::map<EdgeKey, uint64_t> newest_stored;  // in the forward row
  std::set<std::string> unusable, dead_lettered;

  void SendEvent(EventConsumer& process, const ChangeEdge& request, ReplyTo<EdgeChanged> to) {
    const EdgeChanged done{request.id, {}, {}};
    const auto store = [this, request, done] {
      if (Away(shards.ShardOf(request.change.src))) {
        Count(Letter::kEventAway);
        EdgeChanged away = done;
        away.status = AwayStatus();
        return away;
      }
      Stored(request.change);
      return mysql.relations.Do(request);
    };
    if (options.guards.event_rows_before_commit)
      return Ask(process, to, "row of a relation event", done, store);
    to(done);
    if (faults && Chance(10)) return;  // lost with a crash of the sender
    Later("row of a relation event", 0, store);
  }

  void Stored(const EdgeChange& change) {
    const EdgeKey edge{change.src, change.dst};
    uint64_t& newest = newest_stored[edge];
    if (change.origin_version <= newest) return Count(Letter::kEventStale);
    newest = change.origin_version;
    said.AtOnce(edge, change.live);
    Count(Letter::kEvent);
    Trace("event " + std::to_string(newest) + ": " + ToString(edge.src) +
          (change.live ? " follows " : " unfollows ") + ToString(edge.dst));
  }

  void TakeDeadLetter(const std::string& value) {
    Count(Letter::kEventDeadLettered);
    dead_lettered.insert(value);
  }

  // ---- the application ------------------------------------------------------------------------
  void EmitRelation(const EdgeKey& edge) {
    const RelationEvent event{
        Chance(60) ? RelationEventKind::kFollow : RelationEventKind::kUnfollow, edge,
        ++newest_event[edge]};
    Produce(Chance(50) ? testing::EncodeRelationEventJson(event)
                       : testing::EncodeRelationEventProto(event));
  }

  void EmitUnusable(const EdgeKey& edge) {
    const std::string values[] = {
        testing::EncodeRelationEventJson({RelationEventKind::kFollow, {edge.src, edge.src}, 1}),
        testing::EncodeRelationEventJson({RelationEventKind::kUnfollow, edge, 0}),
        "{\"event\":" + std::to_string(unusable.size())};
    const std::string& value = values[Pick(3)];
    unusable.insert(value);
    Produce(value);
  }

  // Two producers know of each event at times, and neither knows of an order.
  void Produce(const std::string& value) {
    const int copies = faults && Chance(30) ? 2 : 1;
    for (int copy = 0; copy < copies; ++copy) {
      Later("relation event", 0, [this, value] {
        Append(relation_events, static_cast<int32_t>(Pick(kEventPartitions)), value);
      });
    }
  }

  // At rest every event is in its row or was overtaken. The dead letters hold the unusable events
  // byte for byte, and nothing else.
  std::string CheckEvents() const {
    if (newest_stored != newest_event) return "a relation event was lost";
    if (dead_lettered != unusable) return "the dead letters are not what could not be used";
    return {};
  }

  // ---- starting, crashing, moving -------------------------------------------------------------
  void StartEventConsumer(EventConsumer& process) {
    using std::chrono::milliseconds;
    process.world = this;
    Renew(process);
    mirror::Limits limits;
    limits.records_open = 24;
    limits.records_open_per_partition = 12;
    limits.events_span_per_partition = 24;
    limits.commit_every = milliseconds(5);
    limits.backoff = {milliseconds(2), milliseconds(20)};
    limits.changes_in_flight = 2;
    limits.parked_bytes_per_shard = 8 << 10;
    limits.mode_every = milliseconds(30);
    process.logic = std::make_unique<mirror::RelationEventConsumer>(
        mirror::RelationEventConsumer::Ports{{process, process.inbox},
                                             {process, process.inbox},
                                             {process, process.inbox},
                                             {process, process.inbox},
                                             process.metrics},
        mirror::RelationEventConsumer::Setup{shards, random()}, limits);
  }

  void StartEventConsumers() {
    for (int i = 0; i < 2; ++i) {
      event_consumers.push_back(std::make_unique<EventConsumer>());
      StartEventConsumer(*event_consumers.back());
    }
    for (int i = 0; i < kEventPartitions; ++i) Move(event_group, event_consumers, i, i % 2);
  }

  void CrashEventConsumer(int index) {
    Trace("crash of event consumer " + std::to_string(index));
    ++counts.crashes;
    Crash(event_group, event_consumers, index,
          [this](EventConsumer& process) { StartEventConsumer(process); });
  }
};

}  // namespace fanline::sim
