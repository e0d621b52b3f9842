// Asks the brokers where a group stands and where logs begin and end, in a thread of its own: these
// calls may take long, and the polling thread must not wait for them. Also tells whether the
// brokers answer at all.
//
// A question is repeated with back-off until it is answered or a newer assignment makes it moot. No
// position is ever guessed.
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
    uint64_t assignment = 0;  // the one asked about
    int32_t partition = 0;
    std::optional<int64_t> committed;  // the group's committed offset
    int64_t low = 0;                   // the log's first offset
    int64_t end = 0;                   // of the next record to be written; looked up last
    // When the last record below `committed` was written, as the commit tells, and the first record
    // that is not older than an hour before it (`low`: there is none). None: the commit does not
    // tell.
    std::optional<UnixMs> read_until{};
    std::optional<int64_t> reread{};
  };
  struct End {
    int32_t partition = 0;
    int64_t offset = 0;  // of the next record to be written
    Time asked_at{};     // what was in the log by then lies below
  };
  struct Answers {
    std::vector<Position> positions;
    std::vector<End> ends;
    // Of the newest call: empty when the brokers answered, else why they did not. None: no call.
    std::optional<std::string> failure;
  };

  // `client` must live until Stop has returned true. The thread calls `wake` whenever there is
  // something to take.
  PositionLookup(Client& client, std::string topic, std::function<void()> wake);
  ~PositionLookup();

  // Asks where to start in these partitions; forgets the questions of earlier assignments.
  void AskPositions(uint64_t assignment, std::vector<int32_t> partitions);
  // Asks about this partition once more, if no newer assignment was asked about since.
  void AskAgain(uint64_t assignment, int32_t partition);
  // Asks once, without repetition, where the logs end.
  void AskEnds(std::vector<int32_t> partitions);
  // Calls `wake` after `delay`, so that the poller retries what it could not do now.
  void WakeAfter(Duration delay);
  Answers Take();

  // False: after `limit` the thread is still inside a call. It is left behind, and the client must
  // be left behind with it.
  [[nodiscard]] bool Stop(Duration limit);

 private:
  // Shared with the thread, which may outlive this object.
  struct Shared;
  static void Run(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace fanline::kafka
