// Every bound of a pusher in one place.
#pragma once

#include <cstdint>

#include "fanline/base/backoff.h"
#include "fanline/base/time.h"
#include "fanline/ports/live_timelines.h"

namespace fanline::pusher {

struct Limits {
  WindowLimits window;

  uint32_t timelines_per_batch = 500;          // bounds how long one call holds a Redis node
  uint32_t items_per_zadd = kMaxAddsPerWrite;  // most posts in one timeline's write
  // Per node of Redis, which carries out one batch while the next travels. More only lengthen the
  // queue in front of the node and keep batches small: with 8 of them a post arrived twice as late
  // under half load (decision 6).
  uint32_t batches_in_flight = 2;
  uint32_t posts_per_unit = kMaxAddsPerWrite;  // most post hints in one unit
  // Most syncs in one unit. Their calls are under way together.
  uint32_t syncs_per_unit = 256;
  // Syncs of all units together. Each may hold a window of items. A unit may have one sync beyond
  // this bound.
  uint32_t syncs_in_flight = 512;
  // Followers read at once: on an author's first page in a range, and on the pages of one who has
  // more there (units/admission.h). Small units pass large ones (units/write_batcher.h).
  uint32_t followers_on_first_page = 500;
  uint32_t followers_per_page = 5'000;
  // Readers that one call for news names (units/audience.h). Redis takes about 0.25 ms for them. A
  // range's first call names fewer: after a takeover the first posts of all ranges wait for it.
  uint32_t news_per_call = 200;
  uint32_t news_at_first = 20;
  // Lists of followers (units/follower_lists.h): the bytes of all, 0 = none are kept; and for how
  // long one is believed.
  uint64_t follower_lists = 64 << 20;
  Duration follower_lists_age = std::chrono::hours(1);
  // Most units of a range whose finished pages are saved in pos:, so that the next owner goes on
  // behind them.
  uint32_t begun_saved = 8;
  // Units under way from each shard to each node of Redis (units/admission.h). A shard or node that
  // hangs delays no units that do not need it. Once all credits are taken, free ones are given when
  // they are a quarter, or after `refill_within`. With 5 ms few units start together, and a shard
  // reads a quarter more statements. Parked units have no credit and hold no page.
  uint32_t units_in_flight = 2'048;
  Duration refill_within = std::chrono::milliseconds(10);
  // Large units of a way under way at the same time, each with a page.
  uint32_t large_pages_in_flight = 16;
  // Up to this many ways each have all of the above; more ways share it. A reader of a page takes 8
  // bytes: the pages of one way take at most 8.8 MB, those of all ways 35 MB.
  uint32_t whole_ways = 4;
  // Readers of small units whose writes wait for one node of Redis. Above this, no unit starts for
  // that node.
  uint32_t waiting_readers = 40'000;
  // The bounds of one range, which is paused at any of them.
  // Hints that can be worked on; each shard has an equal share.
  uint32_t buffered_hints_per_range = 4'096;
  // Hints that are held up (fanline/consuming/shard_shares.h), about 1 KB each. Up to this many,
  // authors of a shard that is away or hangs hold up no other author.
  uint32_t parked_hints_per_range = 16'384;
  // Hints of both kinds, of all ranges together. Sixteen ranges may hold all of theirs; more ranges
  // share the bound (inflow.h).
  uint32_t held_hints = 655'360;
  // Hints from the oldest unfinished one to the newest received one. A takeover replays these; each
  // takes one byte here. The bound is generous because a single parked lane reaches it while all
  // others go on: in a quarter of an hour at a thousand hints a second.
  uint32_t span_per_range = 1'000'000;
  // How long a hint waits for others (fanline/base/gather.h).
  Duration gather = std::chrono::milliseconds(100);
  Duration save_position_every = std::chrono::seconds(1);
  Duration check_position_every = std::chrono::seconds(5);  // when nothing moved
  // Most ends of a range's log that are remembered until the range has reached them. One comes
  // every five seconds.
  uint32_t ends_kept = 64;
  Duration settle_after = std::chrono::seconds(30);  // a start that lasts this long is no crash
  // How long after a takeover no hint is blamed. Earlier owners that were told to go while a shard
  // was away report it as soon as it is back (`takeover`, Config::reopen).
  Duration last_words = std::chrono::seconds(5);
  Backoff backoff;
  // The pauses of a takeover that Redis or the shard did not answer. A range goes on up to one
  // pause after its node has a successor, so the pause stays small beside the second or two of a
  // failover. Many ranges that wait cost next to nothing: while no node serves them, their claims
  // are refused in this process.
  Backoff takeover{std::chrono::milliseconds(50), std::chrono::milliseconds(500)};
  // The pace of parked units: one per resource and way asks whether it is back.
  Backoff probe{std::chrono::milliseconds(50), std::chrono::seconds(1)};
  // How long a pusher waits when it finds another owner in its range. The wait grows while the
  // contest goes on and is forgotten after `peace`. The first wait is longer than a consumer takes
  // to hear that its group gave the partition to another (a heartbeat, at most a second). So a
  // pusher that lost the range hears of it while it waits and does not take the range back. It
  // disturbs the owner that the group chose only once.
  Backoff contested{std::chrono::seconds(2), std::chrono::seconds(30)};
  Duration peace = std::chrono::seconds(60);
};

}  // namespace fanline::pusher
