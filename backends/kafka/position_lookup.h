// Asks the brokers where a group stands and where logs begin and end. It does so in its own thread,
// since these calls may take long and the polling thread must not wait. Also tells whether the
// brokers answer at all.
// A question is repeated with back-off until it is answered or a newer assignment replaces it. No
// position is ever guessed.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
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
    int64_t end = 0;                   // the offset of the next record; looked up last
    // From the commit's metadata, if it has any. read_until: when the last record below `committed`
    // was written. reread: the first record written at most an hour before that, or `low`.
    std::optional<UnixMs> read_until{};
    std::optional<int64_t> reread{};
  };
  struct End {
    int32_t partition = 0;
    int64_t offset = 0;  // of the next record
    Time asked_at{};     // records that were in the log then lie below
  };
  struct Answers {
    std::vector<Position> positions;
    std::vector<End> ends;
    // The partitions whose ends the newest answer about ends does not tell, and why: mostly they
    // have no leader. None: no such answer.
    std::optional<std::map<int32_t, std::string>> untold;
    // The newest call's: empty when the brokers answered, else why they did not. None: no call.
    std::optional<std::string> failure;
  };

  // `client` must live until Stop has returned true. The thread calls `wake` whenever there is
  // something to take.
  PositionLookup(Client& client, std::string topic, std::function<void()> wake);
  ~PositionLookup();

  // Asks where to start in these partitions, and forgets the questions of earlier assignments.
  void AskPositions(uint64_t assignment, std::vector<int32_t> partitions);
  // Asks about this partition once more, unless a newer assignment was asked about since.
  void AskAgain(uint64_t assignment, int32_t partition);
  // Asks where the logs end, all at once, and each alone if that fails: a broker that hangs fails
  // the call for all. Does nothing while such questions wait.
  void AskEnds(std::vector<int32_t> partitions);
  // Calls `wake` after `delay`, so that the poller retries.
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
