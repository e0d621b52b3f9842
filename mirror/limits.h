// Every bound of a mirror in one place.
#pragma once

#include <cstdint>

#include "fanline/base/backoff.h"
#include "fanline/base/time.h"

namespace fanline::mirror {

struct Limits {
  Backoff backoff;

  // Rows of log1 in memory for each pair of a forward and a reverse shard. The backlog leaves a
  // quarter of them to new rows.
  uint32_t rows_per_pair = 8'192;
  // A row that was read longer ago is read again before it is written. It may be done by now, and a
  // newer unfollow's tombstone may have been collected since.
  Duration fresh_for = std::chrono::seconds(60);

  // Reads of log1, per forward shard.
  uint32_t rows_per_read = 1'024;
  Duration poll_every = std::chrono::milliseconds(20);   // for new rows, while there are none
  Duration belled_poll_every = std::chrono::seconds(1);  // the same while a bell tells of them
  Duration late_every = std::chrono::seconds(1);
  Duration late_for = std::chrono::seconds(30);  // a row may be committed this long after its id
  uint64_t late_ids = 10'000;                    // at the start, in place of late_for
  Duration sweep_every = std::chrono::minutes(10);
  Duration sweep_pace = std::chrono::milliseconds(200);  // from page to page
  size_t most_heard = 16'384;                            // rows that a bell told of, to be read
  // Of a shard that tells of more rows than this polls find enough, for a while.
  size_t most_told = 1'000;
  Duration told_within = std::chrono::seconds(1);
  Duration polled_for = std::chrono::seconds(10);
  Duration mode_every = std::chrono::seconds(1);  // whether there is to be a bell

  // Writes of reverse rows, per shard; of friendships, per pair of shards.
  uint32_t edges_per_transaction = 256;
  uint32_t transactions_in_flight = 2;
  uint32_t friendships_in_flight = 64;
  // Statements about a forward shard's log1: rows of each.
  uint32_t rows_per_mark = 1'024;
  uint32_t rows_per_question = 1'024;  // whether old rows are still pending
  // How long rows that are done are kept. Scans that compare both directions are to read them.
  std::chrono::seconds keep_done = std::chrono::hours(24);
  Duration purge_every = std::chrono::minutes(1);
  uint32_t rows_per_purge = 10'000;
  Duration show_every = std::chrono::seconds(1);

  // The consumer of relation events. Above `records_open` all partitions are paused.
  uint32_t records_open = 32'768;
  Duration commit_every = std::chrono::milliseconds(200);
  uint32_t changes_in_flight = 64;  // per shard
  // Events of shards that are away do not count as open. All events of a shard take at most this
  // much memory, and so do those on their way to the dead letters. A restart reads again from the
  // oldest unfinished event on: the span.
  size_t event_bytes_per_shard = size_t{64} << 20;
  uint32_t events_span_per_partition = 1'000'000;
  // Older events are refused in any case.
  Duration oldest_record = std::chrono::hours(24 * 14);
  // Of an event that is older than this the shard is asked whether the unfollow after it may have
  // been collected (fanline/ports/tombstones.h). No tombstone is collected so early.
  Duration known_for = std::chrono::hours(1);
};

}  // namespace fanline::mirror
