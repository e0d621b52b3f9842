// Requests: appends to Kafka. A reply with kDone means the brokers acknowledged every record of the
// request (acks=all); kLater means some may be in the log all the same: append again.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"
#include "fanline/model/hint.h"
#include "fanline/model/record.h"
#include "fanline/wire/relation_log.h"
#include "fanline/wire/relation_retry.h"

namespace fanline {

struct AppendHints {
  using Reply = struct HintsAppended;
  uint64_t id = 0;
  std::vector<std::pair<Range, Hint>> hints;
  Headers headers;  // of each (fanline/model/headers.h)
};
struct HintsAppended {
  uint64_t id = 0;
  Status status;
};

struct AppendRelations {
  using Reply = struct RelationsAppended;
  uint64_t id = 0;
  std::vector<RelationMessage> messages;  // each to the partition of its edge
  std::vector<Headers> headers;           // of each of these; empty: none has any
};
struct RelationsAppended {
  uint64_t id = 0;
  Status status;
};

struct AppendRetries {
  using Reply = struct RetriesAppended;
  uint64_t id = 0;
  std::vector<RelationRetry> retries;
};
struct RetriesAppended {
  uint64_t id = 0;
  Status status;
};

struct AppendDeadLetter {
  using Reply = struct DeadLetterAppended;
  uint64_t id = 0;
  DeadLetter letter;
};
// Its status is never kNever: of a letter that the topic does not take, the origin is appended.
struct DeadLetterAppended {
  uint64_t id = 0;
  Status status;
};

}  // namespace fanline
