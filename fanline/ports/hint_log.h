// Requests: appends to Kafka. A reply with kDone means the brokers acknowledged every record of the
// request (acks=all); kLater means some were not acknowledged, and may be in the log all the same:
// append again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "fanline/base/outcome.h"
#include "fanline/model/bucket.h"
#include "fanline/model/hint.h"
#include "fanline/model/record.h"
#include "fanline/wire/relation_log.h"
#include "fanline/wire/relation_retry.h"

namespace fanline {

// The reply waits for the slowest of its hints. What is to go on while one range takes nothing is
// asked for range by range.
struct AppendHints {
  using Reply = struct HintsAppended;
  uint64_t id = 0;
  std::vector<std::pair<Range, Hint>> hints;
  // Of each of these, null for none (fanline/model/headers.h); empty: none has any.
  std::vector<std::shared_ptr<const Headers>> headers;
};
struct HintsAppended {
  struct Failed {
    size_t hint = 0;  // its index in the request
    Status status;    // kLater or kNever; kNever may be meant for another that travelled with it
  };
  uint64_t id = 0;
  Status status;                 // kNever if one hint has it
  std::vector<Failed> failed{};  // in their order; all others are acknowledged

  // None of so many hints was acknowledged.
  static HintsAppended Of(uint64_t id, const Status& status, size_t hints) {
    HintsAppended reply{id, status, {}};
    for (size_t hint = 0; hint < hints; ++hint) reply.failed.push_back({hint, status});
    return reply;
  }
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
