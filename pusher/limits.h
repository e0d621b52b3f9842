// Every bound of a pusher in one place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fanline/base/backoff.h"
#include "fanline/base/time.h"
#include "fanline/ports/live_timelines.h"

namespace fanline::pusher {

struct Limits {
  WindowLimits window;

  uint32_t timelines_per_batch = 500;          // bounds how long one call holds a Redis node
  uint32_t items_per_zadd = kMaxAddsPerWrite;  // posts that may meet in one timeline's write
  // To each node of Redis, which carries one out while the next travels. More only lengthen the
  // queue in front of it and keep batches small: at 8 a post arrived twice as late under half load
  // (decision 6).
  uint32_t batches_in_flight = 2;
  uint32_t posts_per_unit = kMaxAddsPerWrite;  // hints at the head of a lane handled as one
  // Syncs at the head of a lane handled as one unit: their calls are under way together.
  uint32_t syncs_per_unit = 256;
  // Syncs of all units: each may hold a timeline's members and a window of items. A unit always has
  // one.
  uint32_t syncs_in_flight = 512;
  // Read at once: of an author's first page in a range, and of each further one, for which a way
  // must have a large page left (places.h). First pages of others pass it (write_batcher.h).
  uint32_t followers_on_first_page = 500;
  uint32_t followers_per_page = 5'000;
  // Units of a range whose pages pos: names, so that the next owner goes on behind them.
  uint32_t begun_saved = 8;
  // From each shard of MariaDB to each node of Redis (places.h): one that hangs keeps no others
  // waiting. Once all places are taken, they are refilled a quarter at a time, or as far as they
  // are free after `refill_within`: at 5 ms few units start together, and MariaDB reads a quarter
  // more statements. Parked units take no place, and hold no page.
  uint32_t units_in_flight = 1'024;
  Duration refill_within = std::chrono::milliseconds(10);
  uint32_t large_pages_in_flight = 16;
  // So many ways have all of this, and more ways share it. A reader of a page takes 8 bytes: pages
  // take at most 4.7 MB of a way, and 19 MB of all.
  uint32_t whole_ways = 4;
  // Of first pages, whose writes wait for a node of Redis: above, no unit starts for that node.
  uint32_t waiting_readers = 40'000;
  // Bounds of one range; it is paused at any of them. Hints that can be worked on, an equal
  // share of each shard:
  uint32_t buffered_hints_per_range = 4'096;
  // Hints that are held up (lanes.h), about 1 KB each: authors of a shard that is away or hangs
  // hold up nobody else until there are so many.
  uint32_t parked_hints_per_range = 16'384;
  // Of both kinds, of all ranges together: sixteen ranges may hold all of theirs, more share it
  // (inflow.h).
  uint32_t held_hints = 655'360;
  // From the oldest unfinished hint to the newest received. A takeover replays these; each takes a
  // byte here. The bound is generous, as a single parked lane reaches it while all others go on: in
  // a quarter of an hour at a thousand hints a second.
  uint32_t span_per_range = 1'000'000;
  // How long a hint waits for others (fanline/base/gather.h).
  Duration gather = std::chrono::milliseconds(100);
  Duration save_position_every = std::chrono::seconds(1);
  Duration check_position_every = std::chrono::seconds(5);  // when nothing moved
  // Of a range: looks at its log's end that it has not reached. They come every five seconds.
  uint32_t ends_kept = 64;
  Duration settle_after = std::chrono::seconds(30);  // a start that lasted is no crash
  // No hint is blamed sooner than so long after a takeover: owners of before that were told to go
  // while MariaDB was away say so as soon as it is back (`takeover`, Config::reopen).
  Duration last_words = std::chrono::seconds(5);
  Backoff backoff;
  // Of a takeover that Redis or MariaDB did not answer. A range goes on this long after its node
  // has a successor, so the pause stays small beside the second or two of a failover. Many ranges
  // that wait cost next to nothing: as long as no node serves them, their claims are refused in
  // this process.
  Backoff takeover{std::chrono::milliseconds(50), std::chrono::milliseconds(500)};
  // Of parked units: one for each resource asks whether it is back (parking.h).
  Backoff probe{std::chrono::milliseconds(50), std::chrono::seconds(1)};
  // How long a pusher waits that finds another owner in its range. The wait grows while the contest
  // goes on and is forgotten after `peace`. The first wait is longer than a consumer takes to hear
  // that its group gave the partition to another (a heartbeat, at most a second). A pusher that
  // lost the range hears of it while it waits and never takes the range back. So it disturbs the
  // owner that the group chose only once.
  Backoff contested{std::chrono::seconds(2), std::chrono::seconds(30)};
  Duration peace = std::chrono::seconds(60);
};

}  // namespace fanline::pusher
