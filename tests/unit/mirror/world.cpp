#include "tests/unit/mirror/world.h"

#include <functional>

namespace fanline::mirror {
namespace {

using AnyReply = World::AnyReply;

AnyReply ReplyTo(const Request& request) {  // an empty one
  struct {
    AnyReply operator()(const ApplyEdges& each) const { return EdgesApplied{each.id, {}, {}, 0}; }
    AnyReply operator()(const ChangeEdge& each) const { return EdgeChanged{each.id, {}, {}}; }
    AnyReply operator()(const ReadPending& each) const { return PendingRead{each.id, {}, {}}; }
    AnyReply operator()(const MarkDone& each) const { return MarkedDone{each.id, {}}; }
    AnyReply operator()(const PurgeDone& each) const { return PurgedDone{each.id, {}, 0}; }
    AnyReply operator()(const ReadMirrorMode& each) const {
      return MirrorModeRead{each.id, {}, MirrorMode::kAsync};
    }
    AnyReply operator()(const AppendHints& each) const { return HintsAppended{each.id, {}}; }
    AnyReply operator()(const AppendRelations& each) const {
      return RelationsAppended{each.id, {}};
    }
    AnyReply operator()(const AppendDeadLetter& each) const {
      return DeadLetterAppended{each.id, {}};
    }
  } of;
  return std::visit(of, request);
}

template <class Input, class T>
void PutIf(std::vector<Input>& inbox, T& reply) {
  if constexpr (std::is_constructible_v<Input, T>) inbox.emplace_back(std::move(reply));
}

}  // namespace

World::World(const Limits& given)
    : limits(given), position(kPartitions, 0), committed(kPartitions, 0) {}

void World::Submit(ChangeRequest request) {
  std::visit([this](auto& each) { requests.emplace_back(std::move(each)); }, request);
}

// ---- the process ------------------------------------------------------------------------------

void World::Start() {
  mirror = std::make_unique<Mirror>(
      Mirror::Ports{*this, *this, *this, *this, *this, *this, *metrics},
      Mirror::Setup{layout, shards, static_cast<uint32_t>(kPartitions), seed}, limits);
  event_consumer = std::make_unique<RelationEventConsumer>(
      RelationEventConsumer::Ports{*this, *this, *this, *this, *metrics},
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
      worked = worked || !std::holds_alternative<ReadPending>(requests.front());
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

World::AnyReply World::CarryOut(const Request& request) {
  AnyReply reply = ReplyTo(request);
  if (const auto* apply = std::get_if<ApplyEdges>(&request)) {
    reply = store.Do(*apply);
  } else if (const auto* change = std::get_if<ChangeEdge>(&request)) {
    reply = store.Do(*change);
  } else if (const auto* read = std::get_if<ReadPending>(&request)) {
    reply = store.Do(*read);
  } else if (const auto* mark = std::get_if<MarkDone>(&request)) {
    reply = store.Do(*mark);
  } else if (const auto* purge = std::get_if<PurgeDone>(&request)) {
    reply = store.Do(*purge);
  } else if (const auto* mode = std::get_if<ReadMirrorMode>(&request)) {
    reply = store.Do(*mode);
  } else if (const auto* append = std::get_if<AppendHints>(&request)) {
    for (const auto& [range, hint] : append->hints) {
      hints.push_back(hint);
      on_hint(hint);
    }
  } else if (const auto* relations = std::get_if<AppendRelations>(&request)) {
    for (const RelationMessage& message : relations->messages) Append(message);
  } else {
    letters.push_back(std::get<AppendDeadLetter>(request).letter);
  }
  return reply;
}

void World::AnswerAt(size_t index, Fate fate) {
  const Request request = std::move(requests[index]);
  requests.erase(requests.begin() + static_cast<std::ptrdiff_t>(index));
  const bool happens = fate == Fate::kDone || fate == Fate::kUnknown;
  AnyReply reply = happens ? CarryOut(request) : ReplyTo(request);
  std::visit(
      [&](auto& each) {
        if (fate == Fate::kLater || fate == Fate::kUnknown) {
          each.status = Status::Later("somebody", "away");
        }
        if (fate == Fate::kNever) each.status = Status::Never("it cannot be");
        if (RequestIds::PartOf(each.id) == Part::kEvents) {
          PutIf(event_inbox, each);
        } else {
          PutIf(inbox, each);
        }
      },
      reply);
}

// ---- the logs ---------------------------------------------------------------------------------

void World::Append(const RelationMessage& message) {
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
