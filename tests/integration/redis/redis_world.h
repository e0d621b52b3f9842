// A real Redis (FANLINE_REDIS) that was emptied, and the adapters on it, driven one request at a
// time.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backends/redis/client/blocking_connection.h"
#include "backends/redis/live_timelines.h"
#include "backends/redis/reader_timelines.h"
#include "backends/redis/timeline_scanner.h"
#include "tests/integration/replies.h"

namespace fanline::redis::testing {

Options OptionsFromEnvironment();

// Runs commands as an operator would type them.
class Console {
 public:
  explicit Console(const Options& options) : connection_(options.At(options.seeds.front())) {}

  // The reply as text: strings and numbers as they are, arrays joined by blanks, nil as "(nil)",
  // errors as "(error) ...".
  std::string Run(const std::vector<std::string>& words);
  std::vector<std::string> List(const std::vector<std::string>& words);

 private:
  BlockingConnection connection_;
};

// Collects the state changes of one adapter. Waits for them with a deadline.
class Driver {
 public:
  explicit Driver(const Options& options);

  // Submits and waits.
  template <class R>
  typename R::Reply Do(R request) {
    return Ask(adapter_, std::move(request));
  }

  void WaitUntilConnected(bool connected = true);
  std::string WhyNotConnected();  // once it was reported
  size_t left_migrating() const;
  std::string log() const;
  size_t times_connected() const;
  void WaitForConnection(size_t more_than);  // until times_connected() is
  RedisLiveTimelines& adapter() { return adapter_; }

 private:
  template <class Condition>
  void Wait(std::unique_lock<std::mutex>& lock, const char* what, Condition condition);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool connected_ = false;
  std::string why_not_;
  size_t times_connected_ = 0;
  size_t left_migrating_ = 0;
  std::string log_;
  RedisLiveTimelines adapter_;  // last: it calls back
};

// A batch of whole writes. Each of its readers has one write.
class BatchOf {
 public:
  BatchOf(Range range, uint64_t epoch) {
    batch_.range = range;
    batch_.epoch = epoch;
  }
  BatchOf& Write(UserId reader, std::vector<Item> adds, std::vector<Item> removes = {},
                 std::vector<Mark> marks = {});
  TimelineBatch Take() { return std::move(batch_); }

 private:
  TimelineBatch batch_;
};

}  // namespace fanline::redis::testing
