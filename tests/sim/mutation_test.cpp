// Each guard of the design, switched off in turn, must make the simulation fail.
#include "tests/mutation_check.h"
#include "tests/sim/fleet.h"

namespace fanline::sim {
namespace {

std::string RunWith(uint64_t seed, const Guards& guards) {
  return Fleet({.seed = seed, .guards = guards}).Run();
}

// Skips fresh schedules that lack what the guard protects from, or that soon repair the damage.
struct Fitting {
  bool (*fits)(const Character&) = nullptr;  // none: all fit
  bool operator()(uint64_t seed) const { return !fits || fits(Fleet({.seed = seed}).character()); }
};

using Mutation = testing::Mutation<Guards, Fitting>;
class GuardTakenAway : public ::testing::TestWithParam<Mutation> {};

TEST_P(GuardTakenAway, IsNoticedOnPinnedSeeds) {
  // One that notices is enough, so that a change of the draws needs no other seeds.
  testing::ExpectPinnedSeedsToNotice(GetParam(), RunWith, {.at_least = 1, .searched = 10'000});
}
TEST_P(GuardTakenAway, IsNoticedOnFreshSeeds) {
  testing::ExpectFreshSeedsToNotice(GetParam(), RunWith);
}

// Timelines stay. Otherwise they are soon rebuilt, which repairs them.
bool Calm(const Character& of) { return of.expire == 0 && of.flush == 0; }
// Also no range starts again, and no application sends again.
bool Steady(const Character& of) {
  return Calm(of) && of.revoke_all + of.lose_head + of.lose_tail + of.lose_other_heads == 0;
}
bool WithZombies(const Character& of) {
  return Steady(of) && of.hold_orphans > 0 && of.crash_pusher > 0;
}
bool WithLostConnections(const Character& of) {
  return Steady(of) && of.hold_orphans > 0 && of.time_out > 0;
}
bool WithReaders(const Character& of) { return Steady(of) && of.readers > 2; }
bool WhileFull(const Character& of) { return Steady(of) && of.redis_full > 0; }
bool ForgetsIndexes(const Character& of) { return Steady(of) && of.forget_index > 0; }
bool RollsBack(const Character& of) { return Calm(of) && of.rollback > 0; }
bool DispatchersCrash(const Character& of) { return Calm(of) && of.crash_dispatcher > 0; }
bool FastRebuilds(const Character& of) { return of.slow_rebuild == 0; }
bool HintsOfMirrors(const Character& of) { return !of.inline_too && of.authors > 1; }
bool WritesInline(const Character& of) { return of.inline_too; }
bool ForgetsEdges(const Character& of) { return of.unmirrored > 0; }
bool LosesHeads(const Character& of) { return of.lose_head > 0; }
bool LosesTails(const Character& of) { return of.lose_tail > 0; }
bool LosesTailsInWalks(const Character& of) {
  return LosesTails(of) && Calm(of) && of.long_resets && of.crash_pusher + of.move_range > 0;
}
bool MovesSlots(const Character& of) {
  return Steady(of) && of.move_slot > 2 && of.never + static_cast<int>(of.forget_index) > 0;
}
bool HasFriends(const Character& of) { return of.befriend > 0; }
bool HasEvents(const Character& of) { return of.relation_event > 0; }
bool LeavesOut(const Character& of) { return Calm(of) && of.leave_out; }
bool ReadsLate(const Character& of) {
  return LeavesOut(of) && of.read_lag > 5 && of.import > 1 && of.publish > of.change &&
         of.readers < 7 && of.reader > 3 && of.slow_rebuild == 0;
}
bool CountsWrong(const Character& of) { return LeavesOut(of) && of.counter_drift > 0; }
bool CountsFew(const Character& of) { return CountsWrong(of) && of.readers > 9; }
bool LosesReads(const Character& of) { return ReadsLate(of) && of.shard_away + of.time_out > 0; }
bool Imports(const Character& of) { return Steady(of) && of.import > 0; }
bool AppliesStale(const Character& of) { return Steady(of) && of.inline_too; }
bool LongRuns(const Character& of) { return Steady(of) && of.page == 1 && of.crash_pusher > 0; }
bool LongRunsRolledBack(const Character& of) {
  return Calm(of) && of.page == 1 && of.rollback > 0 && of.move_range > 0;
}
bool Repairs(const Character& of) { return Steady(of) && of.unmirrored > 0; }

bool Switches(const Character& of) { return Steady(of) && of.switch_mode > 0; }
bool SwitchesWhileBuilding(const Character& of) {
  return of.switch_mode > 1 && of.slow_rebuild > 0 && of.expire == 0 &&
         of.lose_head + of.lose_tail == 0 && of.publish > 2 && of.reader > 4;
}
bool SwitchesByItself(const Character& of) { return Steady(of) && of.pull_above > 0; }
bool ManyMarks(const Character& of) { return Steady(of) && of.many_marks; }
bool SwitchesAndCrashes(const Character& of) { return Switches(of) && of.crash_dispatcher > 0; }

bool Chooses(const Character& of) { return Steady(of) && of.choose > 0; }
bool ChoosesFriends(const Character& of) { return of.choose > 0 && of.befriend > 0; }
bool MutesAuthors(const Character& of) { return Steady(of) && of.mute > 0; }

bool ReadsOwn(const Character& of) { return Steady(of) && of.own_posts; }
bool LeavesOutOwn(const Character& of) { return ReadsOwn(of) && of.leave_out; }

bool NeverReads(const Character& of) { return Steady(of) && of.never > 0 && of.follow > 0; }
bool DamagesHints(const Character& of) { return Steady(of) && of.odd.damaged > 1; }
bool Upgrades(const Character& of) { return Steady(of) && of.odd.newer > 0; }
bool RefusesLetters(const Character& of) { return of.odd.letters_away > 0; }
bool Demotes(const Character& of) { return Steady(of) && of.odd.demote > 0; }
bool LosesRows(const Character& of) { return of.odd.lose_rows > 0; }
bool LosesReposts(const Character& of) { return Calm(of) && of.odd.lose_rows > 0; }
bool MirrorsHang(const Character& of) { return of.odd.hang > 0; }
bool CommitsLate(const Character& of) { return of.odd.late_commit > 0; }
bool LosesTold(const Character& of) {
  return of.escape == Character::Escape::kForwardLost && of.follow > 0;
}
bool MarksByHand(const Character& of) {
  return of.escape == Character::Escape::kMarked && of.follow > 0;
}
bool Healthy(const Character& of) { return of.healthy && of.follow > 0; }

const Mutation kMutations[] = {
    // clang-format off
    {"sticky_tombstones", [](Guards& guards) { guards.mysql.sticky_tombstones = false; }, {13, 17, 20}},
    {"versions", [](Guards& guards) { guards.mysql.versions = false; }, {7, 26, 28}},
    {"hint_on_every_apply", [](Guards& guards) { guards.mysql.hint_on_every_apply = false; }, {141, 184, 196}, DispatchersCrash},
    {"last_at_grows", [](Guards& guards) { guards.mysql.last_at_grows = false; }, {2, 4, 5}},
    {"fence", [](Guards& guards) { guards.redis.fence = false; }, {5122, 7477, 7593}, WithZombies},
    {"positions", [](Guards& guards) { guards.logic.positions = false; }, {224, 225, 265}, RollsBack},
    {"never_create", [](Guards& guards) { guards.redis.never_create = false; }, {2, 10, 12}},
    {"raise_floor", [](Guards& guards) { guards.redis.raise_floor = false; }, {5, 6, 8}},
    {"record_removals", [](Guards& guards) { guards.redis.record_removals = false; }, {230, 234, 369}, FastRebuilds},
    {"sync_drops_building", [](Guards& guards) { guards.redis.sync_drops_building = false; }, {1, 8, 9}},
    {"sync_takes_out", [](Guards& guards) { guards.redis.sync_takes_out = false; }, {6, 8, 9}},
    {"syncs_hear_news", [](Guards& guards) { guards.logic.syncs_hear_news = false; }, {6, 7, 8}},
    {"short_rule", [](Guards& guards) { guards.redis.short_rule = false; }, {1, 6, 17}},
    {"hide_building", [](Guards& guards) { guards.redis.hide_building = false; }, {1, 3, 5}},
    {"drop_full", [](Guards& guards) { guards.redis.drop_full = false; }, {15, 161, 607}, WhileFull},
    {"pending_index", [](Guards& guards) { guards.redis.pending_index = false; }, {54, 157, 472}, ForgetsIndexes},
    {"truth_after_hint", [](Guards& guards) { guards.truth_after_hint = false; }, {3, 4, 5}},
    {"lanes_in_order", [](Guards& guards) { guards.logic.lanes_in_order = false; }, {188, 326, 404}, WithReaders},
    {"hints_before_commit", [](Guards& guards) { guards.hints_before_commit = false; }, {11, 23, 31}},
    {"failed_pages_again", [](Guards& guards) { guards.logic.failed_pages_again = false; }, {141, 194, 696}},
    {"pages_acknowledged", [](Guards& guards) { guards.logic.pages_acknowledged = false; }, {6554, 9209}, LongRuns},
    {"begun_as_saved", [](Guards& guards) { guards.logic.begun_as_saved = false; }, {9264}, LongRunsRolledBack},
    {"claim_after_reconnect", [](Guards& guards) { guards.claim_after_reconnect = false; }, {10759, 13165, 15735}, WithLostConnections},
    {"hint_after_truth", [](Guards& guards) { guards.hint_after_truth = false; }, {15, 18, 53}, HintsOfMirrors},
    {"hint_before_msg2", [](Guards& guards) { guards.hint_before_msg2 = false; }, {22, 70, 88}},
    {"mark_last", [](Guards& guards) { guards.logic.mark_last = false; }, {1, 8, 11}},
    {"msg1_first", [](Guards& guards) { guards.logic.msg1_first = false; }, {1, 2, 3}},
    {"reread_old", [](Guards& guards) { guards.logic.reread_old = false; }, {1, 2, 3}, MirrorsHang},
    {"late_window", [](Guards& guards) { guards.logic.late_window = false; }, {6, 53, 270}, CommitsLate},
    {"fold_highest", [](Guards& guards) { guards.logic.fold_highest = false; }, {31, 91, 102}, Healthy},
    {"pending_is_not_lost", [](Guards& guards) { guards.logic.pending_is_not_lost = false; }, {22, 132, 201}, Healthy},
    {"mirror_versions", [](Guards& guards) { guards.mirror_versions = false; }, {1, 6, 8}},
    {"commit_lowest_pending", [](Guards& guards) { guards.logic.commit_lowest_pending = false; }, {23, 24, 34}, ForgetsEdges},
    {"reverse_first", [](Guards& guards) { guards.reverse_first = false; }, {125, 749, 1169}, WritesInline},
    {"lost_heads_told", [](Guards& guards) { guards.lost_heads_told = false; }, {131, 211, 225}, LosesHeads},
    {"lost_tails_told", [](Guards& guards) { guards.lost_tails_told = false; }, {29, 30, 33}, LosesTails},
    {"tail_drops_range", [](Guards& guards) { guards.logic.tail_drops_range = false; }, {56, 65, 72}, LosesTails},
    {"loss_before_walk", [](Guards& guards) { guards.redis.loss_before_walk = false; }, {38155, 74446, 132006}, LosesTailsInWalks},
    {"reset_sees_whole_slot", [](Guards& guards) { guards.reset_sees_whole_slot = false; }, {6282, 7868, 8075}, MovesSlots},
    {"friendships_announced", [](Guards& guards) { guards.friendships_announced = false; }, {15, 25, 70}, HasFriends},
    {"above_what_is_settled", [](Guards& guards) { guards.above_what_is_settled = false; }, {28, 125, 147}, HasFriends},
    {"changes_settle", [](Guards& guards) { guards.changes_settle = false; }, {25, 37, 58}, HasFriends},
    {"application_versions", [](Guards& guards) { guards.application_versions = false; }, {35, 56, 58}, HasEvents},
    {"event_rows_before_commit", [](Guards& guards) { guards.event_rows_before_commit = false; }, {8, 9, 14}, HasEvents},
    // Empty ranges.
    {"followers_after_commit", [](Guards& guards) { guards.followers_after_commit = false; }, {79676, 96183, 164703}, ReadsLate},
    {"followers_as_they_are", [](Guards& guards) { guards.followers_as_they_are = false; }, {81558, 96183, 204150}, ReadsLate},
    {"counters_only_choose", [](Guards& guards) { guards.mysql.counters_only_choose = false; }, {6, 31, 167}, CountsWrong},
    {"met_limit_is_all", [](Guards& guards) { guards.mysql.met_limit_is_all = false; }, {1507, 1799, 2287}, CountsFew},
    {"unread_is_all", [](Guards& guards) { guards.logic.unread_is_all = false; }, {42939, 43761, 47189}, LosesReads},
    {"append_again", [](Guards& guards) { guards.logic.append_again = false; }, {141, 350, 1082}, LeavesOut},
    {"stale_applies_hint", [](Guards& guards) { guards.stale_applies_hint = false; }, {6, 12, 22}, AppliesStale},
    {"repairs_hint", [](Guards& guards) { guards.repairs_hint = false; }, {15, 160, 248}, Repairs},
    {"imports_hint", [](Guards& guards) { guards.imports_hint = false; }, {1021, 1184, 1223}, Imports},
    // Authors merged at read.
    {"posts_mark", [](Guards& guards) { guards.logic.posts_mark = false; }, {22, 28, 84}, Switches},
    {"rebuilds_mark", [](Guards& guards) { guards.logic.rebuilds_mark = false; }, {17, 24, 31}, Switches},
    {"announced_is_told", [](Guards& guards) { guards.announced_is_told = false; }, {580, 841, 1664}, SwitchesAndCrashes},
    {"keep_marks", [](Guards& guards) { guards.redis.keep_marks = false; }, {1005}, SwitchesWhileBuilding},
    {"count_more_marks", [](Guards& guards) { guards.redis.count_more_marks = false; }, {23, 133, 190}, ManyMarks},
    {"marks_synced", [](Guards& guards) { guards.mysql.marks_synced = false; }, {28, 69, 116}, Switches},
    {"marked_for_good", [](Guards& guards) { guards.mysql.marked_for_good = false; }, {22, 24, 28}, Switches},
    {"pushed_once", [](Guards& guards) { guards.mysql.pushed_once = false; }, {31, 133, 143}, Switches},
    {"switches_mark", [](Guards& guards) { guards.mysql.switches_mark = false; }, {124, 385, 558}, SwitchesByItself},
    {"switch_of_version", [](Guards& guards) { guards.mysql.switch_of_version = false; }, {3447, 5434, 7054}, SwitchesByItself},
    // What a follow brings.
    {"muted_not_pushed", [](Guards& guards) { guards.mysql.muted_not_pushed = false; }, {61, 90, 146}, Chooses},
    {"muted_not_synced", [](Guards& guards) { guards.mysql.muted_not_synced = false; }, {40, 61, 69}, Chooses},
    {"muted_not_read", [](Guards& guards) { guards.mysql.muted_not_read = false; }, {40, 61, 90}, Chooses},
    {"choices_mirrored", [](Guards& guards) { guards.choices_mirrored = false; }, {40, 61, 69}, Chooses},
    {"unfollows_reset", [](Guards& guards) { guards.unfollows_reset = false; }, {61, 69, 90}, Chooses},
    {"friendships_keep", [](Guards& guards) { guards.friendships_keep = false; }, {17, 40, 58}, ChoosesFriends},
    {"choices_settle_nothing", [](Guards& guards) { guards.choices_settle_nothing = false; }, {83, 216, 274}, ChoosesFriends},
    // Reposts.
    {"original_once", [](Guards& guards) { guards.mysql.original_once = false; }, {503, 601, 628}},
    {"one_spelling", [](Guards& guards) { guards.redis.one_spelling = false; }, {6024, 23387, 50028}, LosesReposts},
    {"any_spelling_goes", [](Guards& guards) { guards.redis.any_spelling_goes = false; }, {158135, 205708, 379014}, LosesReposts},
    {"no_reposts_not_pushed", [](Guards& guards) { guards.mysql.no_reposts_not_pushed = false; }, {90, 146, 214}, Chooses},
    {"no_reposts_not_synced", [](Guards& guards) { guards.mysql.no_reposts_not_synced = false; }, {61, 90, 120}, Chooses},
    {"no_reposts_read", [](Guards& guards) { guards.mysql.no_reposts_read = false; }, {146, 160, 310}, Chooses},
    {"no_reposts_listed", [](Guards& guards) { guards.logic.no_reposts_listed = false; }, {61, 120, 214}, Chooses},
    // Own posts.
    {"own_pushed", [](Guards& guards) { guards.logic.own_pushed = false; }, {1, 2, 3}, ReadsOwn},
    {"own_hinted", [](Guards& guards) { guards.logic.own_hinted = false; }, {280, 461, 475}, LeavesOutOwn},
    {"rebuilds_own", [](Guards& guards) { guards.logic.rebuilds_own = false; }, {1, 2, 3}, ReadsOwn},
    {"pulls_own", [](Guards& guards) { guards.logic.pulls_own = false; }, {1, 2, 3}, ReadsOwn},
    {"letters_before_commit", [](Guards& guards) { guards.logic.letters_before_commit = false; }, {2, 12, 13}, RefusesLetters},
    // Mutes.
    {"syncs_mute", [](Guards& guards) { guards.logic.syncs_mute = false; }, {15, 28, 40}, MutesAuthors},
    {"rebuilds_mute", [](Guards& guards) { guards.logic.rebuilds_mute = false; }, {15, 28, 40}, MutesAuthors},
    {"pages_mute", [](Guards& guards) { guards.logic.pages_mute = false; }, {15, 28, 40}, MutesAuthors},
    // Primaries that change.
    {"truth_proved", [](Guards& guards) { guards.truth_proved = false; }, {5, 54, 174}, Demotes},
    {"reads_confirmed", [](Guards& guards) { guards.reads_confirmed = false; }, {546, 733, 1011}, Demotes},
    // The log scan.
    {"looks_later", [](Guards& guards) { guards.looks_later = false; }, {375, 640, 1158}, LosesTold},
    {"scans_log1", [](Guards& guards) { guards.scans_log1 = false; }, {60, 80, 286}, MarksByHand},
    {"lost_rows_sent_again", [](Guards& guards) { guards.lost_rows_sent_again = false; }, {58, 117, 142}, LosesRows},
    // Pages.
    {"pages_proved", [](Guards& guards) { guards.logic.pages_proved = false; }, {60, 149, 546}, Demotes},
    {"lacks_told", [](Guards& guards) { guards.logic.lacks_told = false; }, {1, 2, 3}},
    // Who is live, and who follows.
    {"walks_leave_index", [](Guards& guards) { guards.redis.walks_leave_index = false; }, {5242371226962773747}, NeverReads},
    {"set_served_whole", [](Guards& guards) { guards.logic.set_served_whole = false; }, {26, 46, 72}},
    {"all_held_at_first", [](Guards& guards) { guards.logic.all_held_at_first = false; }, {95, 138, 160}},
    {"claims_forget_set", [](Guards& guards) { guards.logic.claims_forget_set = false; }, {1, 2, 5}},
    {"index_named", [](Guards& guards) { guards.logic.index_named = false; }, {8, 17, 65}},
    {"lists_follow_syncs", [](Guards& guards) { guards.logic.lists_follow_syncs = false; }, {8261675172575373441}},
    {"lists_follow_the_dead", [](Guards& guards) { guards.logic.lists_follow_the_dead = false; }, {8, 15, 17}},
    {"claims_forget_lists", [](Guards& guards) { guards.logic.claims_forget_lists = false; }, {17, 99, 130}},
    {"quarantines_forget_lists", [](Guards& guards) { guards.logic.quarantines_forget_lists = false; }, {23090, 40840, 52581}, NeverReads},
    {"undecodable_forgets_lists", [](Guards& guards) { guards.logic.undecodable_forgets_lists = false; }, {90518, 130580, 132359}, DamagesHints},
    {"whole_lists", [](Guards& guards) { guards.logic.whole_lists = false; }, {14134756135092479138u}},
    // Hints that a pusher does not understand.
    {"newer_awaited", [](Guards& guards) { guards.logic.newer_awaited = false; }, {151, 188, 342}, Upgrades},
    {"quarantine_drops", [](Guards& guards) { guards.logic.quarantine_drops = false; }, {1894, 2489, 4228}, DamagesHints},
    // clang-format on
};

INSTANTIATE_TEST_SUITE_P(Fleet, GuardTakenAway, ::testing::ValuesIn(kMutations),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace fanline::sim
