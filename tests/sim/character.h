// The character of one schedule (swarm testing): the bounds of its stores, and how often each thing
// happens. Each seed has its own mix. A frequent fault repairs or hides what another one broke, so
// many schedules have only a few kinds.
#pragma once

#include <cstdint>

#include "tests/sim/odd.h"

namespace fanline::sim {

struct Character {
  uint32_t window = 6;  // small: trims all the time; large: keeps old damage
  uint64_t readers = 1, authors = 1, posts = 1;
  uint64_t carry_out = 1, turn = 1, client = 1, reader = 1, fault = 0;  // weights
  uint64_t burst = 1;                                                   // calls carried out at once
  uint64_t publish = 1, change = 1, follow = 1;
  uint64_t befriend = 0, relation_event = 0;
  uint64_t choose = 0;  // weight: another choice of what a follow brings
  uint64_t time_out = 0, crash_pusher = 0, crash_dispatcher = 0, move_range = 0, move_feed = 0;
  uint64_t snapshot = 0, rollback = 0, flush = 0, expire = 0;
  int hold_orphans = 0;  // percent: how rarely a captured write is carried out
  int notice = 20;       // percent per turn: how soon a zombie notices
  int recent = 0;        // percent of changes to one of the last posts
  int slow = 0;          // percent of calls that take very long
  int slow_rebuild = 0;  // percent of a rebuild's steps that are delayed
  int mirror_lag = 1;    // how long a reverse row may take, in turns of the network
  int late = 0;          // percent of posts that arrive late

  int redis_later = 0;  // percent of calls of Redis that are refused
  int never = 0;        // percent of answers that will always be the same
  uint64_t redis_full = 0, forget_index = 0, revoke_all = 0;
  uint64_t lose_head = 0;         // of the log of hints
  uint64_t lose_other_heads = 0;  // of the other logs
  uint64_t lose_tail = 0;         // of any log
  uint64_t change_mode = 0;       // of mirrors
  bool long_resets = false;       // a reset takes several calls

  uint64_t crash_mirror = 0, crash_reconciler = 0, crash_event_consumer = 0,
           move_event_consumer = 0, move_mirror = 0, move_pairs = 0;
  uint64_t shard_away = 0;
  int unmirrored = 0;       // percent of edges a mirror drops between msg1 and the reverse row
  int lose_msg2 = 0;        // percent
  int repeat = 0;           // percent of messages of relation-log that arrive three times
  bool inline_too = false;  // clients write the reverse row as well (mirror mode sync)
  int grace_ms = 100;       // of a pair
  bool lags = false;        // the mirror, in a healthy schedule, by more than the grace
  bool few_pairs = false;   // the reconciler has room for few, so some go to the retries
  // Ranges without followers are left out.
  bool leave_out = false;
  int counter_drift = 0;  // percent of counters of followers that are read wrongly
  uint64_t read_lag = 0;  // how long it may take from a commit to the read, in turns of the network
  uint64_t import = 0;    // weight
  uint32_t page = 2;      // followers that a pusher reads at once
  uint32_t news = 1;      // readers that one call for news names
  uint64_t lists = 0;     // bytes for lists of followers
  int list_age_ms = 0;    // how long such a list is believed
  uint32_t large_page = 0;   // followers that it reads at once after a first page; 0: as many
  uint32_t held_hints = 0;   // that all ranges of a pusher together may hold; 0: no limit
  int first_follows = 60;    // percent of edges that are there from the start
  uint64_t switch_mode = 0;  // weight: an author's new posts become merged at read, or pushed again
  bool many_marks = false;   // more authors are merged at read than a timeline can name
  uint64_t pull_above = 0;   // authors are switched automatically; 0: never
  uint64_t mute = 0;         // percent of events after which a reader mutes or unmutes
  bool own_posts = false;    // authors read too, and see their own posts
  // Contests and last words end within a schedule, and a range's owners crash one after another.
  bool short_contests = false;
  uint32_t nodes = 1;                     // of Redis
  uint64_t move_slot = 0, node_away = 0;  // weights
  uint64_t owners_away = 0;               // weight: the shard of range_owner
  // The log scan runs, and one kind of what escapes the pairs is drawn.
  bool scans = false;
  enum class Escape { kNone, kReverseLost, kForwardLost, kMarked, kEdited };
  Escape escape = Escape::kNone;
  uint64_t escapes = 0;  // weight
  Odd odd;
  bool healthy = false;  // no faults, nothing slow: then nothing may be checked or repaired
};

}  // namespace fanline::sim
