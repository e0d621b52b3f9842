// The one table of what librdkafka's error codes mean to us and what the caller must do.
//
// kNever is only for a fault of the record or the order itself: it fails the same way each time,
// and setting it aside holds up nothing else. A missing topic, a missing partition or a refused
// login is kLater: once it is mended everything goes on. Quarantining all traffic until then would
// not help.
#pragma once

#include <librdkafka/rdkafka.h>

#include <string>
#include <string_view>

#include "fanline/base/outcome.h"

namespace fanline::kafka {

// What an error says about reading on in a partition.
enum class Reading {
  kGoesOn,
  kLost,     // the log does not hold the position: where to go on must be looked up, not guessed
  kCorrupt,  // what stands at the position cannot be read
};

struct Meaning {
  Outcome outcome = Outcome::kLater;
  const char* text = nullptr;  // a clause, without full stop; nullptr: librdkafka's own words
  Reading reading = Reading::kGoesOn;
  Cause cause = Cause::kOther;
  const char* advice = "";  // as Status::advice
};

Meaning MeaningOf(rd_kafka_resp_err_t code);

// The Status of a call, its message one line: "<what>: <meaning> (<CODE>)". The resource of a
// kLater is "kafka".
Status StatusOf(rd_kafka_resp_err_t code, std::string_view what);

// "<meaning> (<CODE>)", for log lines.
std::string Describe(rd_kafka_resp_err_t code);

}  // namespace fanline::kafka
