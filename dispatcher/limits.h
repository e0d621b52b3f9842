// Every bound of a dispatcher in one place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dispatcher/mode_rule.h"
#include "fanline/base/backoff.h"
#include "fanline/base/time.h"

namespace fanline::dispatcher {

struct Limits {
  uint32_t events_per_transaction = 256;
  uint32_t transactions_in_flight = 2;  // per shard
  // All partitions are paused once each shard has its equal share of this many (shard_room.h), or
  // this many are on their way to the dead letters.
  uint32_t events_open = 8'192;
  // Events of shards that are away, or beyond their shard's share, do not count as open. All events
  // of a shard take at most this much memory, and so do those on their way to the dead letters: an
  // hour at twenty events a second, five minutes at three hundred.
  size_t event_bytes_per_shard = size_t{64} << 20;
  // Hints under way to all ranges together, by number and by the bytes of their records. Each range
  // has an equal share of both (hint_appends.h). The producer's queue is larger: dead letters need
  // room there too. A range's share is at most a quarter of events_open, so that a range that hangs
  // leaves room for the events of others.
  size_t hints_under_way = 150'000;
  size_t hint_bytes_under_way = size_t{48} << 20;
  // Events that wait for ranges which take nothing, or less than the others, do not count as open
  // either. They take at most this much memory for all ranges together.
  size_t parked_bytes_of_ranges = size_t{64} << 20;
  // From the oldest unfinished event to the newest received one. A restart reads these again.
  uint32_t events_span_per_partition = 1'000'000;
  // How long a record waits for others, and hints for those of transactions under way (gather.h).
  Duration gather = std::chrono::milliseconds(100);
  Duration commit_every = std::chrono::milliseconds(200);
  // Rows are sticky for at least this long (design 2, guard 1). An event whose record is older is
  // refused, because its row may have been collected.
  Duration oldest_record = std::chrono::hours(24 * 14);
  // How long a repost waits to learn whether the post that it names is a repost (original_reads.h).
  Duration wait_for_originals = std::chrono::milliseconds(500);
  double sample_rate = 0.01;  // share of publishes measured until delivery
  ModeRule modes;
  // How often an author whose posts are merged at read is announced. If a log loses the hints, a
  // range's live timelines miss the author until the first post after this time.
  Duration announce_every = std::chrono::hours(24);
  Backoff backoff;
};

}  // namespace fanline::dispatcher
