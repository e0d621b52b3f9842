#include "tests/unit/mirror/world.h"

namespace fanline::mirror {
World::World(const Limits& given) : limits(given) {}

// ---- the process ------------------------------------------------------------------------------

void World::Start() {
  mirror =
      std::make_unique<Mirror>(Mirror::Ports{{of_mirror, inbox},
                                             {bells, inbox},
                                             {bells, inbox},
                                             {{of_mirror, inbox},
                                              {of_mirror, inbox},
                                              {of_mirror, inbox},
                                              {of_mirror, inbox},
                                              {of_mirror, inbox},
                                              *metrics}},
                               Mirror::Setup{{layout, shards, 1, {}}, partitions, gather}, limits);
  event_consumer = std::make_unique<RelationEventConsumer>(
      RelationEventConsumer::Ports{{of_events, event_inbox}, {of_events, event_inbox}, *metrics},
      RelationEventConsumer::Setup{shards, 1}, limits);
  for (int32_t partition = 0; partition < static_cast<int32_t>(partitions); ++partition) {
    inbox.emplace_back(PartitionAssigned{partition, 0, 0});
  }
  event_position = INT64_MAX;  // until it is sought
  event_inbox.emplace_back(PartitionAssigned{0, event_committed, 0});
  Step();
}

void World::Crash() {
  mirror.reset();
  event_consumer.reset();
  requests.clear();
  inbox.clear();
  bells.asked.clear();
  event_inbox.clear();
}

void World::Step() {
  const auto inputs = std::exchange(inbox, {});
  next_timer = mirror->Step(inputs, now).next_timer;

  while (!events_paused && event_position < static_cast<int64_t>(events.size())) {
    event_inbox.emplace_back(events[static_cast<size_t>(event_position++)]);
  }
  auto event_inputs = std::exchange(event_inbox, {});
  const ConsumerOrders event_orders = event_consumer->Step(event_inputs, now).orders;
  for (const auto& seek : event_orders.seek) event_position = seek.offset;
  if (!event_orders.seek.empty() || !event_orders.resume.empty()) events_paused = false;
  if (!event_orders.pause.empty()) events_paused = true;
  for (const auto& at : event_orders.commit) event_committed = at.offset;
}

void World::Turns(int count) {
  for (int turn = 0; turn < count; ++turn) {
    Pass(limits.poll_every);
    Step();
    // A change takes seven calls, one after the other.
    for (int hop = 0; hop < 8 && !requests.empty(); ++hop) {
      for (size_t left = requests.size(); left > 0; --left) AnswerAt(0, Fate::kDone);
      Step();
    }
  }
}

void World::Pass(Duration time) {
  now.mono += time;
  now.unix_ms += std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  store.now = now.unix_ms;
}

// ---- the calls --------------------------------------------------------------------------------

HintsAppended World::CarryOut(const AppendHints& request) {
  HintsAppended reply{request.id, {}};
  for (size_t i = 0; i < request.hints.size(); ++i) {
    const auto& [range, hint] = request.hints[i];
    if (takes_nothing.contains(range)) {
      reply.status = Status::Later("kafka", "no leader");
      reply.failed.push_back({i, reply.status});
      continue;
    }
    hints.push_back(hint);
  }
  return reply;
}

RelationsAppended World::CarryOut(const AppendRelations& request) {
  log.insert(log.end(), request.messages.begin(), request.messages.end());
  return {request.id, {}};
}

DeadLetterAppended World::CarryOut(const AppendDeadLetter& request) {
  letters.push_back(request.letter);
  return {request.id, {}};
}

void World::AnswerAt(size_t index, Fate fate) {
  const Request request = std::move(requests[index]);
  requests.erase(requests.begin() + static_cast<std::ptrdiff_t>(index));
  const auto answer = [&]<class R>(const fakes::Asked<R>& asked) {
    typename R::Reply reply;
    if (fate == Fate::kDone || fate == Fate::kUnknown) reply = CarryOut(asked.request);
    reply.id = asked.request.id;
    if (fate == Fate::kLater || fate == Fate::kUnknown) {
      reply.status = Status::Later("somebody", "away");
    }
    if (fate == Fate::kLocked) {
      reply.status = Status::Later("somebody", "locked");
      reply.status.cause = Cause::kLocked;
    }
    if (fate == Fate::kNever) reply.status = Status::Never("it cannot be");
    if constexpr (std::is_same_v<R, AppendHints>) {
      const auto& request_of = asked.request;
      if (fate != Fate::kDone)
        reply = HintsAppended::Of(request_of.id, reply.status, request_of.hints.size());
    }
    asked.to(std::move(reply));
  };
  std::visit(answer, request.asked);
}

// ---- the logs ---------------------------------------------------------------------------------

void World::AppendEventBytes(std::string bytes) {
  events.push_back(Record{.topic = "relation-events",
                          .offset = static_cast<int64_t>(events.size()),
                          .timestamp = now.unix_ms,
                          .value = std::move(bytes)});
}

UserId World::UserOn(Shard shard, uint64_t nth) const {
  for (uint64_t id = 1;; ++id) {
    if (shards.ShardOf(UserId{id}) == shard && --nth == 0) return UserId{id};
  }
}

}  // namespace fanline::mirror
