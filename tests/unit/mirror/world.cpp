#include "tests/unit/mirror/world.h"

namespace fanline::mirror {
World::World(const Limits& given)
    : limits(given), position(kPartitions, 0), committed(kPartitions, 0) {}

// ---- the process ------------------------------------------------------------------------------

void World::Start() {
  const auto to_applier = AsPart<ApplierReply>(inbox);
  const auto to_relay = AsPart<RelayReply>(inbox);
  mirror = std::make_unique<Mirror>(
      Mirror::Ports{{{of_applier, to_applier},
                     {of_applier, to_applier},
                     {of_applier, to_applier},
                     {of_applier, to_applier},
                     {of_applier, to_applier},
                     *metrics},
                    {{of_relay, to_relay},
                     {of_relay, to_relay},
                     {of_relay, to_relay},
                     {of_relay, to_relay},
                     *metrics}},
      Mirror::Setup{layout, shards, static_cast<uint32_t>(kPartitions), seed}, limits);
  event_consumer =
      std::make_unique<RelationEventConsumer>(RelationEventConsumer::Ports{{of_events, event_inbox},
                                                                           {of_events, event_inbox},
                                                                           {of_events, event_inbox},
                                                                           {of_events, event_inbox},
                                                                           *metrics},
                                              RelationEventConsumer::Setup{shards, seed}, limits);
  running = true;
  for (int32_t partition = 0; partition < kPartitions; ++partition) {
    position[static_cast<size_t>(partition)] = INT64_MAX;  // until it is sought
    inbox.emplace_back(PartitionAssigned{partition, committed[static_cast<size_t>(partition)], 0});
  }
  event_position = INT64_MAX;
  event_inbox.emplace_back(PartitionAssigned{0, event_committed, 0});
  Step();
}

void World::Crash() {
  running = false;
  mirror.reset();
  event_consumer.reset();
  requests.clear();
  inbox.clear();
  event_inbox.clear();
}

void World::Deliver() {
  for (size_t i = 0; i < log.size(); ++i) {
    while (position[i] < static_cast<int64_t>(log[i].size())) {
      inbox.emplace_back(log[i][static_cast<size_t>(position[i]++)]);
    }
  }
  while (!events_paused && event_position < static_cast<int64_t>(events.size())) {
    event_inbox.emplace_back(events[static_cast<size_t>(event_position++)]);
  }
}

void World::Step() {
  Deliver();
  auto inputs = std::exchange(inbox, {});
  const ConsumerOrders orders = mirror->Step(inputs, now).orders;
  for (const auto& seek : orders.seek) position[static_cast<size_t>(seek.partition)] = seek.offset;
  for (const auto& at : orders.commit) committed[static_cast<size_t>(at.partition)] = at.offset;
  paused += orders.pause.size();
  resumed += orders.resume.size();

  auto event_inputs = std::exchange(event_inbox, {});
  const ConsumerOrders event_orders = event_consumer->Step(event_inputs, now).orders;
  for (const auto& seek : event_orders.seek) event_position = seek.offset;
  if (!event_orders.seek.empty() || !event_orders.resume.empty()) events_paused = false;
  if (!event_orders.pause.empty()) events_paused = true;
  for (const auto& at : event_orders.commit) event_committed = at.offset;
}

void World::RunUntilIdle() {
  for (int quiet_turns = 0; quiet_turns < 3;) {
    Pass(limits.poll_every);  // what is written meanwhile is read
    const size_t before = hints.size() + Written() + letters.size() + store.pending();
    Step();
    bool worked = false;
    while (!requests.empty()) {
      worked = worked || requests.front().As<ReadPending>() == nullptr;
      AnswerAt(0, Fate::kDone);
    }
    const size_t after = hints.size() + Written() + letters.size() + store.pending();
    quiet_turns = worked || before != after ? 0 : quiet_turns + 1;
  }
  Pass(limits.commit_every);
  Step();
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
    on_hint(hint);
  }
  return reply;
}

RelationsAppended World::CarryOut(const AppendRelations& request) {
  for (size_t i = 0; i < request.messages.size(); ++i) {
    Append(request.messages[i], request.headers.empty() ? Headers() : request.headers.at(i));
  }
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

void World::Append(const RelationMessage& message, const Headers& headers) {
  const std::string key = RelationLogKey(KeyOf(message));
  const size_t partition = std::hash<std::string>()(key) % kPartitions;
  auto& records = log[partition];
  Record record;
  record.topic = kRelationLogTopic;
  record.partition = static_cast<int32_t>(partition);
  record.offset = static_cast<int64_t>(records.size());
  record.timestamp = now.unix_ms;
  record.key = key;
  record.value = EncodeRelationMessage(message);
  record.headers = headers;
  records.push_back(std::move(record));
}

void World::AppendBytes(std::string bytes, std::string key) {
  Record record;
  record.topic = kRelationLogTopic;
  record.offset = static_cast<int64_t>(log[0].size());
  record.timestamp = now.unix_ms;
  record.key = std::move(key);
  record.value = std::move(bytes);
  log[0].push_back(std::move(record));
}

void World::AppendEventBytes(std::string bytes) {
  Record record;
  record.topic = "relation-events";
  record.offset = static_cast<int64_t>(events.size());
  record.timestamp = now.unix_ms;
  record.value = std::move(bytes);
  events.push_back(std::move(record));
}

std::vector<EdgeMirrored> World::Mirrored() const {
  std::vector<EdgeMirrored> found;
  for (const auto& records : log) {
    for (const Record& record : records) {
      const auto decoded = DecodeRelationMessage(record.value);
      const auto* message = std::get_if<RelationMessage>(&decoded);
      if (message == nullptr) continue;
      if (const auto* mirrored = std::get_if<EdgeMirrored>(message)) found.push_back(*mirrored);
    }
  }
  return found;
}

size_t World::Written() const {
  size_t count = 0;
  for (const auto& records : log) {
    for (const Record& record : records) {
      const auto decoded = DecodeRelationMessage(record.value);
      const auto* message = std::get_if<RelationMessage>(&decoded);
      count += message != nullptr && std::holds_alternative<EdgeWritten>(*message);
    }
  }
  return count;
}

UserId World::UserOn(Shard shard, uint64_t nth) const {
  for (uint64_t id = 1;; ++id) {
    if (shards.ShardOf(UserId{id}) == shard && --nth == 0) return UserId{id};
  }
}

}  // namespace fanline::mirror
