// A mirror and a consumer of relation events whose calls are answered when the test says so, over
// the fake store and in-memory logs. Two shards; the mirror owns both, by a partition each, and the
// consumer has one partition of relation events.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "fanline/model/hint.h"
#include "mirror/mirror.h"
#include "mirror/relation_event_consumer.h"
#include "tests/fakes/fake_relations.h"
#include "tests/fakes/requests.h"
#include "tests/producers/encoders.h"
#include "tests/unit/mirror/bells.h"

namespace fanline::mirror {

using Calls = fakes::Keeper<ApplyEdges, ChangeEdge, ReadPending, AskPending, MarkDone, PurgeDone,
                            AppendHints, AppendRelations, AppendDeadLetter>;
using Request = Calls::Request;
enum Asker { kMirror, kEvents };

enum class Fate {
  kDone,
  kLater,    // nothing happened
  kUnknown,  // it happened, but the answer is `later`
  kLocked,   // nothing happened: another transaction holds a row
  kNever,
};

struct World {
  uint32_t partitions = 2;  // of the relation events

  explicit World(const Limits& given = Limits{});

  // ---- the process ---------------------------------------------------------------------------
  void Start();  // assigned all partitions
  void Crash();  // calls under way are forgotten, those already sent may still happen
  void Step();   // with all replies that came, and all events that are there
  // Answers everything, and again as new rows are looked for.
  void Turns(int count = 1);
  void Pass(Duration time);

  // ---- the calls -----------------------------------------------------------------------------
  template <class T>
  std::vector<T> Of() const {
    std::vector<T> found;
    for (const Request& request : requests) {
      if (const T* each = request.As<T>()) found.push_back(*each);
    }
    return found;
  }
  // Answers all waiting calls of a kind; returns how many.
  template <class T>
  size_t Answer(Fate fate = Fate::kDone) {
    size_t count = 0;
    for (size_t i = 0; i < requests.size();) {
      if (requests[i].As<T>() != nullptr) {
        AnswerAt(i, fate);
        ++count;
      } else {
        ++i;
      }
    }
    return count;
  }
  void AnswerAt(size_t index, Fate fate);
  // Does the server's side of a call; returns the reply that it would send.
  template <class R>
  typename R::Reply CarryOut(const R& request) {
    return store.Do(request);
  }
  HintsAppended CarryOut(const AppendHints& request);
  RelationsAppended CarryOut(const AppendRelations& request);
  DeadLetterAppended CarryOut(const AppendDeadLetter& request);

  // ---- the logs ------------------------------------------------------------------------------
  void AppendEvent(const RelationEvent& event) {
    AppendEventBytes(testing::EncodeRelationEventJson(event));
  }
  void AppendEventBytes(std::string bytes);
  // Messages in relation-log.
  std::vector<EdgeWritten> Written() const { return MessagesOf<EdgeWritten>(); }
  std::vector<EdgeMirrored> Mirrored() const { return MessagesOf<EdgeMirrored>(); }
  template <class Message>
  std::vector<Message> MessagesOf() const {
    std::vector<Message> found;
    for (const RelationMessage& message : log) {
      if (const auto* each = std::get_if<Message>(&message)) found.push_back(*each);
    }
    return found;
  }

  UserId UserOn(Shard shard, uint64_t nth = 1) const;

  Limits limits;
  Duration gather{};
  ShardMap shards = ShardMap::Even(2);
  RangeLayout layout{4};
  fakes::FakeRelations store{shards};
  Metrics quiet;
  Metrics* metrics = &quiet;
  Now now{Time(std::chrono::seconds(100)), 1'700'000'000'000};

  std::vector<Request> requests;
  Calls of_mirror{requests, kMirror}, of_events{requests, kEvents};
  Bells bells;
  fakes::Inbox<MirrorInput> inbox;
  fakes::Inbox<RelationEventInput> event_inbox;
  std::vector<RelationMessage> log;
  std::vector<Record> events;
  std::vector<Hint> hints;  // in the order appended
  std::vector<DeadLetter> letters;
  std::set<Range> takes_nothing;  // logs of ranges

  int64_t event_position = 0, event_committed = 0;
  bool events_paused = false;
  std::optional<Time> next_timer;  // of the mirror's last step
  std::unique_ptr<Mirror> mirror;
  std::unique_ptr<RelationEventConsumer> event_consumer;
};

}  // namespace fanline::mirror
