// The options of a schedule, and the counts of what happened in it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "fanline/base/mutation_switches.h"
#include "tests/fakes/fake_mysql.h"
#include "tests/fakes/fake_redis.h"

namespace fanline::sim {

// The guards of the design. With any of them off, the run must fail.
struct Guards {
  fakes::RedisRules redis;
  fakes::MysqlRules mysql;
  MutationSwitches logic;
  bool truth_after_hint = true;       // off: a post's state is read once and kept for ever
  bool hints_before_commit = true;    // off: hints count as acknowledged when they are sent
  bool claim_after_reconnect = true;  // off: a new connection continues without new claims
  bool hint_after_truth = true;       // off: an edge's hint is appended before its reverse row
  bool hint_before_msg2 = true;       // off: a mirror's hints count as acknowledged when sent
  bool mirror_versions = true;        // off: the reverse row becomes what was applied last
  bool reverse_first = true;          // off: a check reads the forward row first
  bool lost_heads_told = true;        // off: a consumer goes on at the log's first record, unaware
  bool lost_tails_told = true;  // off: a consumer goes on at its position once the log reaches it
  bool friendships_announced = true;   // off: the pair's row is written without an announcement
  bool above_what_is_settled = true;   // off: a pair's version is only above its row and the clock
  bool changes_settle = true;          // off: a friendship undoes what a user said later
  bool application_versions = true;    // off: the event written last wins
  bool unfollows_reset = true;         // off: an unfollow leaves what the follow brought
  bool friendships_keep = true;        // off: an accepted friendship resets it
  bool choices_settle_nothing = true;  // off: a choice settles a friendship that was announced
  bool choices_mirrored = true;        // off: a reverse row is written without it
  bool event_rows_before_commit = true;  // off: relation events count as stored when they are sent
  bool reset_sees_whole_slot = true;     // off: a reset begins and ends even while a slot moves
  bool truth_proved = true;              // off: an answer of a demoted primary is believed
  bool reads_confirmed = true;           // off: a rebuild also believes it
  bool lost_rows_sent_again = true;      // off: nobody publishes again what a failover lost
  bool looks_later = true;               // off: the log scan leaves relation-log out
  bool scans_log1 = true;                // off: it leaves log1 out
  // Empty ranges.
  bool followers_after_commit = true;  // off: an author's followers are read before the post's row
  bool followers_as_they_are = true;   // off: they are read after it, from an older snapshot
  bool stale_applies_hint = true;      // off: a mirror hints only what its own message wrote
  bool repairs_hint = true;            // off: a repair sends no hint
  bool imports_hint = true;            // off: an import sends no hints
  bool announced_is_told = true;       // off: an author is announced when a post is stored
};

// Further events. Each is counted where it takes effect, so that a test can see that it happens.
enum class Letter : size_t {
  kRedisLater,      // a plain refusal: the connection stays; a part of a batch is written
  kRedisFull,       // a timeline or a rebuild was dropped for want of memory
  kNever,           // an answer that never changes: a hint is quarantined
  kLongReset,       // a step of a reset was delayed by something else
  kIndexForgotten,  // live: deleted by hand during a reset
  kTruthAway,       // the shard of an author's posts and followers
  kLostHead,        // hints lost before anybody read them
  kModeChanged,     // writers begin or stop to write the reverse row at once
  kRepairsStopped,  // the mode keeps reconcilers from repairing, or also from checking
  kRevokedAll,      // every partition revoked from everybody at once
  kLostTail,        // hints lost that somebody had read, and those after them
  kLostOtherHead,   // of another log
  kLostOtherTail,
  kFriends,              // two users agree
  kFriendsNoMore,        // one of them ends it
  kFriendshipLeft,       // announced, but its server died or found a shard away
  kFriendshipOvertaken,  // somebody else changed the pair's row first
  kFriendshipSettled,    // a user changed an edge that awaited one
  kEvent,                // a relation event of an application was stored
  kEventStale,           // it came again, or after a newer one
  kEventAway,            // its shard is away
  kEventDeadLettered,    // nobody can use it
  kPostedAtRest,         // one post of each user, before all is compared again
  kRangeLeftOut,         // a range without a follower of the author got no hint
  kNoHint,               // no range got one
  kFollowersCut,         // an author had more followers than the counter said
  kFollowersUnread,      // the shard went away after the commit
  kImported,             // an edge came by an import
  kGoneOn,               // an owner continued after the pages of its predecessor
  kMergedAtRead,         // a post was stored that belongs in no timeline
  kToldBefore,           // it got no hints, since its author is announced
  kWeighed,              // an estimate of live followers was stored
  kPulledByItself,       // an author was switched automatically
  kPushedByItself,
  kHintRefused,    // it was not acknowledged
  kWalked,         // pages of a live timeline whose author is marked
  kOwn,            // the reader's own posts in a checked timeline
  kDuel,           // a pusher that gave way to another owner claims the range again
  kOwnersAway,     // the shard of range_owner does not answer a pusher
  kLargePage,      // more followers than fit a first page
  kHeldHints,      // a range waits since its pusher's ranges hold too many hints together
  kMoreMarks,      // checked timelines that have more marks than they name
  kNodeAway,       // a call meets a node of Redis that is away
  kBesideAway,     // a batch is written while another node is away
  kTryAgain,       // a call meets a slot whose keys are in two places
  kMoved,          // a call meets a node that no longer has the slot
  kBlamed,         // a hint is dead-lettered because its pushers crashed
  kHintDamaged,    // its bytes are not a hint
  kStoodBefore,    // a pusher met a hint of a newer program
  kDrained,        // a pusher drained before it was replaced
  kLetterRefused,  // its topic refused it
  kCommitBack,     // a committed offset went back
  kLedAstray,      // a call went to the old primary after a switch
  kRowsLost,       // by a failover
  kChosen,         // a user chose what a follow brings
  kBringsNothing,  // a checked timeline lacks posts of somebody who is followed
  kLateCommit,     // a change commits after changes with higher ids
  kLockedRow,      // a call met a row that somebody else has locked
  kHung,           // a mirror took no turn for long
  kAskedAgain,     // rows that were read long ago were asked for
  kChangesLost,    // by a failover, of relations
  kReverseLost,    // reverse rows that were answered for, by a failover
  kMarked,         // a row of log1 that no mirror has come to, by hand
  kEdited,         // a reverse row, by hand
  kEscaped,        // the log scan repaired what its pair had missed
  kPageOvertaken,  // its timeline changed between its first request and its last reply
  kPageLacks,      // it says that it is incomplete, since a shard did not answer
  kPageFailed,     // so many did not that there is none
  kPageLeft,       // its client left before it was served
  kPageAstray,     // a server that it had read from was no primary any more
  kMuted,          // a reader mutes or unmutes an author
  kFiltered,       // a checked walk left out what is muted
  kReposted,       // a post is a repost
  kNoRepost,       // a checked timeline lacks a repost that its reader does not want
  kOriginalGone,   // a checked walk lacks a repost, since its original cannot be seen
  kCount
};
inline constexpr size_t kLetters = static_cast<size_t>(Letter::kCount);
// clang-format off
inline constexpr const char* kLetterNames[kLetters] = {
    "redis later", "redis full", "never", "long reset", "index forgotten",
    "truth away", "lost head", "mode changed", "repairs stopped", "revoked all", "lost tail", "lost other head",
    "lost other tail", "friends", "friends no more", "friendship left", "friendship overtaken",
    "friendship settled", "event", "event stale", "event away", "event dead-lettered", "posted at rest",
    "range left out", "no hint", "followers cut", "followers unread", "imported", "gone on",
    "merged at read", "told before", "weighed", "pulled by itself", "pushed by itself", "hint refused", "walked",
    "own", "duel", "owners away", "large page", "held hints", "more marks", "node away", "beside one away",
    "try again", "moved", "blamed", "hint damaged", "stood before", "drained", "letter refused", "commit back",
    "led astray", "rows lost", "chosen", "brings nothing", "late commit", "locked row", "hung", "asked again",
    "changes lost", "reverse lost", "marked", "edited", "escaped",
    "page overtaken", "page lacks", "page failed", "page left", "page astray",
    "muted", "filtered", "reposted", "no repost", "original gone"};
// clang-format on

struct FleetOptions {
  uint64_t seed = 1;
  Guards guards;
  int steps = 400;     // of each phase
  bool trace = false;  // print every action
};

// Counts of a schedule, so that a test can see that it does all of it.
struct FleetCounts {
  uint64_t deleted = 0, hidden = 0, unfollows = 0, crashes = 0, late_writes = 0, zombies = 0;
  uint64_t rollbacks = 0, flushes = 0, expiries = 0, checked_timelines = 0, checked_items = 0;
  uint64_t trimmed = 0, quarantined = 0;
  uint64_t pages = 0, walked = 0;  // of walks: pages read, and shown items that had not changed
  std::array<uint64_t, kLetters> letters{};
  uint64_t checked_edges = 0, shards_away = 0, checks = 0, repairs = 0, first_rows = 0,
           sent_to_retries = 0;
};

}  // namespace fanline::sim
