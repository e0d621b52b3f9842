// A mirror over the fake store and logs in memory. Its calls are answered when the test says so.
// Two shards, two partitions of relation-log, one partition of relation events.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fanline/model/hint.h"
#include "mirror/mirror.h"
#include "mirror/relation_event_consumer.h"
#include "tests/fakes/fake_relations.h"
#include "tests/fakes/requests.h"
#include "tests/producers/encoders.h"

namespace fanline::mirror {

using Calls = fakes::Keeper<ApplyEdges, ChangeEdge, ReadPending, MarkDone, PurgeDone,
                            ReadMirrorMode, AppendHints, AppendRelations, AppendDeadLetter>;
using Request = Calls::Request;
enum Asker { kApplier, kRelay, kEvents };

enum class Fate {
  kDone,
  kLater,    // nothing happened
  kUnknown,  // it happened, but the answer is `later`
  kNever,
};

struct World {
  static constexpr int32_t kPartitions = 2;

  explicit World(const Limits& given = Limits{});

  // ---- the process ---------------------------------------------------------------------------
  void Start();  // is assigned all partitions, at the committed offsets
  void Crash();  // forgets calls under way; those already sent may still happen
  void Step();   // with all replies and records that have come
  // Answers everything until nothing is left to do now.
  void RunUntilIdle();
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
  // Answers all waiting calls of a kind. Returns their number.
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
  // Does the server's part of a call. Returns the reply that it would send.
  template <class R>
  typename R::Reply CarryOut(const R& request) {
    return store.Do(request);
  }
  HintsAppended CarryOut(const AppendHints& request);
  RelationsAppended CarryOut(const AppendRelations& request);
  DeadLetterAppended CarryOut(const AppendDeadLetter& request);

  // ---- the logs ------------------------------------------------------------------------------
  void Append(const RelationMessage& message, const Headers& headers = {});
  void AppendBytes(std::string bytes, std::string key = "1:2");  // to partition 0
  void AppendEvent(const RelationEvent& event) {
    AppendEventBytes(testing::EncodeRelationEventJson(event));
  }
  void AppendEventBytes(std::string bytes);
  std::vector<EdgeMirrored> Mirrored() const;  // msg2s in the log
  size_t Written() const;                      // msg1s in the log

  UserId UserOn(Shard shard, uint64_t nth = 1) const;

  Limits limits;
  ShardMap shards = ShardMap::Even(2);
  RangeLayout layout{4};
  fakes::FakeRelations store{shards};
  Metrics quiet;
  Metrics* metrics = &quiet;
  Now now{Time(std::chrono::seconds(100)), 1'700'000'000'000};

  std::vector<Request> requests;
  Calls of_applier{requests, kApplier}, of_relay{requests, kRelay}, of_events{requests, kEvents};
  fakes::Inbox<MirrorInput> inbox;
  fakes::Inbox<RelationEventInput> event_inbox;
  std::vector<std::vector<Record>> log{kPartitions};
  std::vector<Record> events;
  std::vector<Hint> hints;  // in the order appended
  std::vector<DeadLetter> letters;
  std::set<Range> takes_nothing;  // logs of ranges
  std::function<void(const Hint&)> on_hint = [](const Hint&) {};

  std::vector<int64_t> position, committed;
  int64_t event_position = 0, event_committed = 0;
  bool events_paused = false;
  size_t paused = 0, resumed = 0;
  uint64_t seed = 1;
  bool running = false;
  std::unique_ptr<Mirror> mirror;
  std::unique_ptr<RelationEventConsumer> event_consumer;

 private:
  void Deliver();
};

}  // namespace fanline::mirror
