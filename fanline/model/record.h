// A Kafka record as the logic sees it: bytes and where they came from.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fanline/base/time.h"

namespace fanline {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Record {
  std::string topic;
  int32_t partition = 0;
  int64_t offset = 0;
  UnixMs timestamp = 0;  // the record's own (CreateTime or LogAppendTime), 0 = none
  std::string key;
  std::string value;
  Headers headers;  // fanline/model/headers.h: which travel on
};

// A record that can never be processed, kept byte for byte in `<topic>.dlq`, with stage and reason
// in text headers (fanline/wire/dead_letter.h). Writing it twice is harmless; losing it is not.
struct DeadLetter {
  Record record;
  std::string stage;   // "dispatcher", "pusher"
  std::string reason;  // one line, naming what was wrong
};

}  // namespace fanline
