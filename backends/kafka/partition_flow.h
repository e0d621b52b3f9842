// Which partitions are ours and at which offset each goes on. This class keeps every next offset
// itself, since librdkafka's positions are not reliable: every resume seeks first. (librdkafka 2.0
// may rewind when it resumes a partition that was not paused. A resume alone does not revive a
// fetcher that gave up, and does not say that it gave up.)
//
// Used from the polling thread only. Calls wait for librdkafka's own thread, never for a broker.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backends/kafka/client.h"
#include "fanline/base/time.h"
#include "fanline/consuming/consumer.h"

namespace fanline::kafka {

class PartitionFlow {
 public:
  PartitionFlow(Client& client, std::string topic);

  // Call both within librdkafka's rebalance callback. Assign takes the partitions, paused and
  // without a position; Unassign gives all of them up.
  void Assign(const std::vector<int32_t>& partitions);
  void Unassign();

  // Orders take effect with the next Settle. Orders for partitions that are not ours are ignored:
  // they crossed a revocation.
  void Seek(int32_t partition, int64_t offset);
  void Pause(int32_t partition);
  void Resume(int32_t partition);

  // Makes librdkafka carry out the orders. False: some fetchers are still starting or stopping;
  // call again soon. Their partitions do not flow until then.
  [[nodiscard]] bool Settle(Time now);

  // A record arrived. True: it is the next one, deliver it. False: drop it; its partition is not
  // ours or does not flow, or the record is from before a seek.
  [[nodiscard]] bool Accept(int32_t partition, int64_t offset);

  // The partition cannot be read on: nothing flows until GoOn or a Seek. False: nothing was
  // flowing, so nobody needs to know.
  [[nodiscard]] bool Park(int32_t partition);
  // Reads a parked partition from where it stopped, unless it is paused as well.
  void GoOn(int32_t partition);
  // Back to how it came: ours, paused, without a position.
  void Forget(int32_t partition);

  [[nodiscard]] bool owns(int32_t partition) const { return partitions_.contains(partition); }
  [[nodiscard]] std::vector<int32_t> owned() const;
  // The next offset to deliver; none before the first Seek.
  [[nodiscard]] std::optional<int64_t> next(int32_t partition) const;

 private:
  struct Partition {
    std::optional<int64_t> next;
    bool paused = true;     // as ordered
    bool parked = false;    // cannot be read on
    bool moved = false;     // `next` is not yet where librdkafka fetches
    bool fetching = false;  // not paused, as far as librdkafka knows

    [[nodiscard]] bool still() const { return paused || parked; }
  };
  using Partitions = std::map<int32_t, Partition>;

  [[nodiscard]] PartitionList List(bool (*wanted)(const Partition&)) const;
  void PauseFetchers();
  bool MoveFetchers(Time now);
  bool ResumeFetchers();
  void Reassign();
  void AssignAll();

  Client& client_;
  const std::string topic_;
  Partitions partitions_;
  std::optional<Time> refusing_since_;  // seeks
};

}  // namespace fanline::kafka
