// The table of librdkafka's error codes: what each means to us and what the caller must do.
//
// kNever is only for a fault of the record or the order itself, which fails the same way each time.
// A missing topic, a missing partition or a refused login is kLater: once that is mended,
// everything goes on. Setting all records aside until then would not help.
#pragma once

#include <librdkafka/rdkafka.h>

#include <string>
#include <string_view>

#include "fanline/base/outcome.h"

namespace fanline::kafka {

// What an error says about reading on in a partition.
enum class Reading {
  kGoesOn,
  kLost,     // the log does not hold the position: the next one must be looked up
  kCorrupt,  // the record at the position cannot be read
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
