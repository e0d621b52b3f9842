// Asks the brokers where a group stands and where logs begin and end, in a thread of its own:
// these calls may take long, and the thread that polls must not wait for them. Whether they answer
// at all is told too.
//
// A question is repeated with back-off until it is answered or a newer assignment makes it moot;
// a position is never made up.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "backends/kafka/client.h"
#include "fanline/base/backoff.h"
#include "fanline/base/time.h"

namespace fanline::kafka {

class PositionLookup {
 public:
  struct Position {
    uint64_t assignment = 0;  // the question's
    int32_t partition = 0;
    int64_t committed = 0;  // the group's committed offset; the log's first when there is none
    int64_t low = 0;        // the log's first offset
    int64_t end = 0;        // of the next record to be written; looked up last
  };
  struct End {
    int32_t partition = 0;
    int64_t offset = 0;  // of the next record to be written
  };
  struct Answers {
    std::vector<Position> positions;
    std::vector<End> ends;
    // Of the newest call: empty when the brokers answered, else why they did not. None: no call.
    std::optional<std::string> failure;
  };

  // `client` must outlive a Stop that returned true. `wake` is called from the thread whenever
  // there is something to take.
  PositionLookup(Client& client, std::string topic, std::function<void()> wake);
  ~PositionLookup();

  // Where to start in these partitions; forgets what was asked for earlier assignments.
  void AskPositions(uint64_t assignment, std::vector<int32_t> partitions);
  // In this one too, if the assignment is still the last that was asked about.
  void AskAgain(uint64_t assignment, int32_t partition);
  // Where the logs end; asked once, without repetition.
  void AskEnds(std::vector<int32_t> partitions);
  // Calls `wake` after `delay`: what the poller could not do now, it does then.
  void WakeAfter(Duration delay);
  Answers Take();

  // False: the thread is still inside a call after `limit` and is left behind; the client must
  // then be left behind too.
  [[nodiscard]] bool Stop(Duration limit);

 private:
  // Shared with the thread, which may outlive this object.
  struct Shared;
  static void Run(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace fanline::kafka
