// Every bound of a mirror in one place.
#pragma once

#include <cstdint>

#include "fanline/base/backoff.h"
#include "fanline/base/time.h"

namespace fanline::mirror {

struct Limits {
  // Of one topic. Above this, all its partitions are paused. Of relation-log all shards share it:
  // while one hangs, the others wait once so much is open for it, until `keep_waiting` is over. So
  // much lasts for 27 s (MariaDB's timeouts come first) at 1,200 changes a second.
  uint32_t records_open = 32'768;
  uint32_t records_open_per_partition = 16'384;  // of relation-log
  Duration commit_every = std::chrono::milliseconds(200);
  Backoff backoff;
  // Tombstones are kept for at least this long; a message that is older could meet an edge whose
  // tombstone was collected, and bring a follow back.
  Duration oldest_record = std::chrono::hours(24 * 14);

  // The applier, per shard.
  uint32_t edges_per_transaction = 256;
  uint32_t transactions_in_flight = 2;
  uint32_t rows_per_mark = 1'024;
  // A shard that is away for longer gives its edges back to log1 as soon as they hold up the
  // others.
  Duration keep_waiting = std::chrono::seconds(20);

  // The relay, per shard. It asks for new rows every `poll_every`, and every `pass_every` also for
  // rows that committed late, with ids below one already seen.
  uint32_t rows_per_read = 1'024;
  uint32_t rows_under_way = 200'000;  // each shard of followers has an equal share
  Duration poll_every = std::chrono::milliseconds(20);
  Duration pass_every = std::chrono::seconds(1);
  // For a relayed row that stays pending: its message may be lost, or wait for a shard.
  Backoff relay_again{.first = std::chrono::seconds(30), .most = std::chrono::minutes(10)};
  // Rows that are done are kept for the scans that compare both directions.
  std::chrono::seconds keep_done = std::chrono::hours(24);
  Duration purge_every = std::chrono::minutes(1);
  uint32_t rows_per_purge = 10'000;

  // The consumer of relation events.
  uint32_t changes_in_flight = 64;  // per shard
  // Events of shards that are away do not count as open. They take at most this much memory per
  // shard. A restart reads again from the oldest unfinished event on: the span.
  size_t parked_bytes_per_shard = size_t{64} << 20;
  uint32_t events_span_per_partition = 1'000'000;
  Duration mode_every = std::chrono::seconds(1);
};

}  // namespace fanline::mirror
