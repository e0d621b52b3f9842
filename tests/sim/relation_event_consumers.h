// Relation events of an application, and their real consumers: events in any order, twice, from
// several producers, and some that are unusable.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "fanline/wire/relation_event.h"
#include "mirror/relation_event_consumer.h"
#include "tests/producers/encoders.h"
#include "tests/sim/mirrors.h"

namespace fanline::sim {

// The application that emits events, and its record of their results.
struct Application {
  World& world;
  std::map<EdgeKey, uint64_t> newest_event{};   // that the application made, of each edge
  std::map<EdgeKey, uint64_t> newest_stored{};  // in the forward row
  std::set<std::string> unusable{}, dead_lettered{};

  void EmitRelation(const EdgeKey& edge) {
    RelationEvent event{
        world.Chance(60) ? RelationEventKind::kFollow : RelationEventKind::kUnfollow, edge,
        ++newest_event[edge]};
    const bool follow = event.kind == RelationEventKind::kFollow;
    if (world.character.choose > 0 && follow && world.Chance(50)) {
      event.delivery = world.AnyDelivery();
    }
    Produce(world.Chance(50) ? testing::EncodeRelationEventJson(event)
                             : testing::EncodeRelationEventProto(event));
  }

  void EmitUnusable(const EdgeKey& edge) {
    const std::string values[] = {
        testing::EncodeRelationEventJson({RelationEventKind::kFollow, {edge.src, edge.src}, 1}),
        testing::EncodeRelationEventJson({RelationEventKind::kUnfollow, edge, 0}),
        "{\"event\":" + std::to_string(unusable.size())};
    const std::string& value = values[world.Pick(3)];
    unusable.insert(value);
    Produce(value);
  }

  // Sometimes two producers send an event; neither keeps an order.
  void Produce(const std::string& value) {
    const int copies = world.Strikes(30) ? 2 : 1;
    for (int copy = 0; copy < copies; ++copy) {
      world.Later("relation event", [this, value] {
        world.Append(world.relation_events, world.PickInt(kEventPartitions), value);
      });
    }
  }

  // At rest every event is in its row or was overtaken. The dead letters hold the unusable events
  // byte for byte, and nothing else.
  std::string Check() const {
    if (newest_stored != newest_event) return "a relation event was lost";
    if (dead_lettered != unusable) return "the dead letters are not what could not be used";
    return {};
  }

  void Stored(const EdgeChange& change) {
    const EdgeKey edge{change.src, change.dst};
    uint64_t& newest = newest_stored[edge];
    if (change.origin_version <= newest) return world.Count(Letter::kEventStale);
    newest = change.origin_version;
    world.said.AtOnce(edge, change.live);
    if (change.delivery) world.said.Chose(edge, *change.delivery);
    world.Count(Letter::kEvent);
    world.Trace("event " + std::to_string(newest) + ": " + ToString(edge.src) +
                (change.live ? " follows " : " unfollows ") + ToString(edge.dst));
  }
};

struct EventConsumer : ServesAll<EventConsumer, ChangeEdge, AppendDeadLetter>,
                       Caller,
                       Consumes<mirror::RelationEventConsumer, mirror::RelationEventInput> {
  EventConsumer(World& given, Application& of) : Caller(given), application(of) {}

  Application& application;
  mirror::Metrics metrics;

  void Serve(const ChangeEdge& request, ReplyTo<EdgeChanged> to) {
    const EdgeChanged done{request.id, {}, {}};
    const auto store = [this, request, done] {
      if (Away(world.shards.ShardOf(request.change.src))) {
        world.Count(Letter::kEventAway);
        EdgeChanged away = done;
        away.status = AwayStatus();
        return away;
      }
      if (world.Locked(request.change.src)) return EdgeChanged{request.id, LockedStatus(), {}};
      application.Stored(request.change);
      return world.mysql.relations.Do(request);
    };
    constexpr const char* kName = "row of a relation event";
    if (world.options.guards.event_rows_before_commit) return Ask(to, kName, done, store);
    to(done);
    if (!world.Strikes(10)) world.Later(kName, store);  // else lost with a crash of the sender
  }

  void Serve(const AppendDeadLetter& request, ReplyTo<DeadLetterAppended> to) {
    world.Count(Letter::kEventDeadLettered);
    AskForLetter(request, to, application.dead_lettered);
  }

  void Start() {
    using std::chrono::milliseconds;
    const mirror::Limits limits{.backoff = {milliseconds(2), milliseconds(20)},
                                .records_open = 24,
                                .commit_every = milliseconds(5),
                                .changes_in_flight = 2,
                                .event_bytes_per_shard = 8 << 10,
                                .events_span_per_partition = 24};
    logic = std::make_unique<mirror::RelationEventConsumer>(
        mirror::RelationEventConsumer::Ports{{*this, inbox}, {*this, inbox}, metrics},
        mirror::RelationEventConsumer::Setup{world.shards, world.random()}, limits);
  }
};

}  // namespace fanline::sim
