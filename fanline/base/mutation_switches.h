// Guards of the logic that a test switches off, to see that something then goes wrong
// (tests/sim/mutation_test.cpp, and CheckerTest for the reconciler's). Everywhere else all guards
// are on.
#pragma once

namespace fanline {

struct MutationSwitches {
  bool lanes_in_order = true;      // off: hints behind a lane's head are taken beside it
  bool pages_acknowledged = true;  // off: a page counts as written once it is read
  bool begun_as_saved = true;      // off: a takeover goes on with pages that pos: does not name
  bool positions = true;           // off: what pos: says counts as what was expected
  bool tail_drops_range = true;    // off: a takeover does not look whether the log lost its tail
  bool failed_pages_again = true;  // off: a page whose writes failed counts as written
  bool quarantine_drops = true;    // off: a quarantine leaves its readers' timelines alone
  bool newer_awaited = true;       // off: a hint of a newer program is quarantined
  // Who is live (pusher/units/audience.h).
  bool set_served_whole = true;   // off: units go on after the first call of a chain
  bool all_held_at_first = true;  // off: nobody is live whom the first chain has not named yet
  bool claims_forget_set = true;  // off: a set outlives the claim
  bool index_named = true;        // off: any index serves
  // Lists of followers (pusher/units/follower_lists.h).
  bool lists_follow_syncs = true;         // off: a sync leaves its author's list as it was
  bool syncs_hear_news = true;            // off: a sync passes over who became live since the last
  bool lists_follow_the_dead = true;      // off: so does that of a reader who is not live
  bool claims_forget_lists = true;        // off: lists outlive the claim
  bool quarantines_forget_lists = true;   // off: they outlive a sync that was quarantined
  bool undecodable_forgets_lists = true;  // off: they outlive a hint that nobody can read
  bool whole_lists = true;                // off: a list is used that lacks pages
  bool no_reposts_listed = true;          // off: nor do lists say who wants no reposts
  bool commit_lowest_pending = true;      // off: everything read is committed
  bool letters_before_commit = true;      // off: a dead letter that was refused counts as taken
  bool append_again = true;               // off: a hint that is not acknowledged counts as appended
  bool unread_is_all = true;              // off: followers that could not be read count as none
  // The mirror.
  bool msg1_first = true;    // off: a reverse row is written before its msg1 is acknowledged
  bool mark_last = true;     // off: rows of log1 are marked once the reverse row is written
  bool reread_old = true;    // off: rows that were read long ago are applied as they were
  bool late_window = true;   // off: only what is above the highest id seen is looked for
  bool fold_highest = true;  // off: of changes of one edge the lowest is written for all
  // The reconciler, of the mirror's.
  bool pending_is_not_lost = true;  // off: a pair whose row of log1 is pending is checked
  bool differences_held = true;     // off: a scan has an edge checked at the first difference
  bool lag_awaited = true;          // off: a scan does not ask what log1 has pending
  // Pages.
  bool pages_proved = true;  // off: a page believes whatever server answered
  bool lacks_told = true;    // off: a page that lacks posts of silent shards counts as complete
  // Authors merged at read.
  bool posts_mark = true;     // off: a post that is merged at read only goes from timelines
  bool rebuilds_mark = true;  // off: a rebuild marks nobody of its own
  // One's own posts.
  bool own_hinted = true;    // off: the author's own range is left out like any other
  bool own_pushed = true;    // off: an author's posts are pushed to followers only
  bool rebuilds_own = true;  // off: a rebuild reads followed authors only
  bool pulls_own = true;     // off: so does a page
  // Mutes.
  bool syncs_mute = true;     // off: a live timeline is not told of them
  bool rebuilds_mute = true;  // off: nor does a rebuild name them
  bool pages_mute = true;     // off: pages show whom the reader mutes
};

}  // namespace fanline
