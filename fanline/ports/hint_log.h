// Requests: appends to Kafka. kDone: the brokers acknowledged every record of the request
// (acks=all). kLater: some were not acknowledged, but may be in the log; append again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"
#include "fanline/model/event.h"
#include "fanline/model/hint.h"
#include "fanline/model/record.h"
#include "fanline/wire/relation_log.h"
#include "fanline/wire/relation_retry.h"

namespace fanline {

// The reply waits for the slowest of its hints. Send one request per range if hints must go on
// while another range takes nothing.
struct AppendHints {
  using Reply = struct HintsAppended;
  uint64_t id = 0;
  std::vector<std::pair<Range, Hint>> hints;
  // One per hint, null for none (fanline/model/headers.h); empty: no hint has any.
  std::vector<std::shared_ptr<const Headers>> headers;
};
struct HintsAppended {
  struct Failed {
    size_t hint = 0;  // its index in the request
    Status status;    // kLater or kNever; another hint of the same batch may have caused kNever
  };
  uint64_t id = 0;
  Status status;                 // kNever if one hint has it
  std::vector<Failed> failed{};  // in order; all others are acknowledged

  // The reply when none of the `hints` was acknowledged.
  static HintsAppended Of(uint64_t id, const Status& status, size_t hints) {
    HintsAppended reply{id, status, {}};
    for (size_t hint = 0; hint < hints; ++hint) reply.failed.push_back({hint, status});
    return reply;
  }
};

struct AppendRelations {
  using Reply = Acknowledged<AppendRelations>;
  uint64_t id = 0;
  std::vector<RelationMessage> messages;  // each to the partition of its edge
  std::vector<Headers> headers;           // one per message; empty: none has any
};
using RelationsAppended = AppendRelations::Reply;

struct AppendRetries {
  using Reply = Acknowledged<AppendRetries>;
  uint64_t id = 0;
  std::vector<RelationRetry> retries;
};
using RetriesAppended = AppendRetries::Reply;

struct AppendDeadLetter {
  using Reply = Acknowledged<AppendDeadLetter>;
  uint64_t id = 0;
  DeadLetter letter;
};
// Its status is never kNever: if the topic refuses a letter, its origin alone is appended.
using DeadLetterAppended = AppendDeadLetter::Reply;

// Appends an event to feed-events, as an application's producer does (docs/producers.md).
struct AppendEvent {
  using Reply = Acknowledged<AppendEvent>;
  uint64_t id = 0;
  FeedEvent event;
  std::string json = {};  // the event's own text, when it has one
};
using EventAppended = AppendEvent::Reply;

}  // namespace fanline
