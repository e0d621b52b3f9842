// Reads a topic's records, for an operator's tools: no group, no commits, nothing is written.
// Blocking; a call that makes no progress for `patience` ends kLater. Messages are one line. One
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/kafka/client_options.h"
#include "fanline/base/log_sink.h"
#include "fanline/base/outcome.h"
#include "fanline/base/time.h"
#include "fanline/model/record.h"

namespace fanline::kafka {

class Client;

// Records [from, to) of a partition.
struct LogSpan {
  int32_t partition = 0;
  int64_t from = 0;
  int64_t to = 0;

  [[nodiscard]] bool empty() const { return from >= to; }
};

class LogReader {
 public:
  // Throws like Admin; brokers need not be there yet.
  LogReader(ClientOptions options, Duration patience, LogSink log = {});
  ~LogReader();
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  // What each of the topic's partitions holds now, from the first record not older than `since`; 0:
  // from the log's first. `partitions` is their number.
  Status Look(const std::string& topic, int32_t partitions, UnixMs since,
              std::vector<LogSpan>* spans);

  // Hands over the records of the span, in order. `take` returns whether to go on. kLater also when
  // the span's first records are gone by now; nothing is handed over then.
  Status Read(const std::string& topic, const LogSpan& span,
              const std::function<bool(Record)>& take);

 private:
  Status Offsets(const std::string& topic, int32_t partitions, int64_t which,
                 std::vector<int64_t>* found);

  const Duration patience_;
  const std::unique_ptr<Client> client_;
};

}  // namespace fanline::kafka
