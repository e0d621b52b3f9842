// Which partitions are ours and from where each one flows. librdkafka is told; what it believes
// about positions is not relied upon: this class knows the next offset of every partition itself,
// and every resume seeks there first. (A resume of what was not paused may rewind in 2.0; a resume
// alone neither revives a fetcher that gave up nor says that it did.)
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

  // Within librdkafka's rebalance callback: takes the partitions, paused, without a position; or
  // gives up all of them.
  void Assign(const std::vector<int32_t>& partitions);
  void Unassign();

  // Orders for partitions that are not ours are ignored: they crossed a revocation. They take
  // effect with the next Settle.
  void Seek(int32_t partition, int64_t offset);
  void Pause(int32_t partition);
  void Resume(int32_t partition);

  // Makes librdkafka do what was ordered. False: it was not ready for all of it (a fetcher is
  // still starting or stopping); call again soon. Nothing of such a partition flows until then.
  [[nodiscard]] bool Settle(Time now);

  // A record arrived. True: it is the next one, deliver it; false: it is of a partition that is
  // not ours, not flowing, or from before a seek.
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
