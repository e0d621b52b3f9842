// Which partitions are ours and the next offset of each. librdkafka's positions are not reliable,
// so this class keeps the offsets itself and every resume seeks first. (librdkafka 2.0 may rewind
// when it resumes a partition that was not paused. A resume does not revive a fetcher that gave up,
// nor does it report that.)
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

  // Call both from librdkafka's rebalance callback. Assign takes the partitions, paused and without
  // a position; Unassign gives all of them up.
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

  // A record arrived. True: deliver it. False: drop it; its partition is not ours or does not flow,
  // or the record was fetched before a seek.
  [[nodiscard]] bool Accept(int32_t partition, int64_t offset);

  // The partition cannot be read any further: nothing flows until GoOn or a Seek. False: it was not
  // flowing anyway.
  [[nodiscard]] bool Park(int32_t partition);
  // Reads a parked partition from where it stopped, unless it is paused as well.
  void GoOn(int32_t partition);
  // Back to the state after Assign: ours, paused, without a position.
  void Forget(int32_t partition);

  [[nodiscard]] bool owns(int32_t partition) const { return partitions_.contains(partition); }
  [[nodiscard]] std::vector<int32_t> owned() const;
  // The next offset to deliver; none before the first Seek.
  [[nodiscard]] std::optional<int64_t> next(int32_t partition) const;

 private:
  struct Partition {
    std::optional<int64_t> next;
    bool paused = true;     // as ordered
    bool parked = false;    // cannot be read any further
    bool moved = false;     // `next` is not yet where librdkafka fetches
    bool fetching = false;  // not paused, as far as librdkafka knows

    [[nodiscard]] bool still() const { return paused || parked; }
  };
  using Partitions = std::map<int32_t, Partition>;

  [[nodiscard]] PartitionList List(bool (*wanted)(const Partition&)) const;
  void PauseFetchers();
  bool MoveFetchers(Time now);
  bool ResumeFetchers();
  // Notes of each whether it was done. True: all of them.
  bool SeekAll(const PartitionList& list, void (*note)(Partition&, bool done));
  void Reassign();
  void AssignAll();

  Client& client_;
  const std::string topic_;
  Partitions partitions_;
  std::optional<Time> refusing_since_;  // since when fetchers refuse to seek
};

}  // namespace fanline::kafka
