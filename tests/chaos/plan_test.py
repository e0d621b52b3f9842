"""What a seed stands for is drawn beforehand, and the same each time."""

import contextlib
import io
import unittest
from collections import Counter

from tests.chaos import follows, plan, posts, rig, run
from tests.chaos.faults import Doing
from tests.chaos.row_faults import Strangers
from tests.e2e.installation import made_up_graph

SEEDS = range(1, 31)
WHOLE = 20_000, 10_000


class Plans(unittest.TestCase):
    def test_a_seed_is_the_same_plan_each_time_and_another_seed_another(self):
        plans = [plan.draw(seed, *WHOLE) for seed in SEEDS]
        self.assertEqual(plans, [plan.draw(seed, *WHOLE) for seed in SEEDS])
        self.assertEqual(len({each.faults for each in plans}), len(plans))

    def test_a_plan_that_was_kept_is_read_again(self):
        drawn = plan.draw(7, *WHOLE)
        self.assertEqual(plan.Plan.of_json(drawn.to_json()), drawn)

    def test_what_would_run_nothing_is_refused(self):
        for words, why in ((["--seeds", "0"], "0 is no number from 1 on"),
                           (["--events", "-5"], "-5 is no number from 1 on"),
                           (["--plan", __file__], "is no plan that was kept")):
            said = io.StringIO()
            with contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as ended:
                run.main(words)
            self.assertEqual(ended.exception.code, 2)
            self.assertIn(why, said.getvalue())

    def test_a_whole_run_has_some_thirty_faults_and_thirty_runs_have_every_kind(self):
        kinds = Counter()
        for seed in SEEDS:
            faults = plan.draw(seed, *WHOLE).faults
            self.assertTrue(25 <= len(faults) <= 50, len(faults))
            kinds.update(fault.kind for fault in faults)
        self.assertEqual(set(kinds), set(plan.KINDS))
        self.assertGreater(min(kinds.values()), 5, kinds)

    def test_a_lane_begins_no_fault_before_the_one_before_is_over(self):
        for seed in SEEDS:
            over = {}
            for fault in plan.draw(seed, *WHOLE).faults:
                self.assertGreaterEqual(fault.at + 0.11, over.get(fault.lane, 0), fault)
                over[fault.lane] = fault.at + fault.seconds + plan.CALM_S

    def test_every_kind_can_be_done_and_every_target_is_there(self):
        for name, kind in plan.KINDS.items():
            self.assertTrue(callable(getattr(Doing, name)), name)
        members = {f"{role}-{number}" for role, count in rig.MEMBERS.items()
                   for number in range(1, count + 1)} | {"api"}
        self.assertEqual(members, {*plan.MEMBERS, *plan.RELATION_MEMBERS})


class Work(unittest.TestCase):
    def setUp(self):
        self.draw = plan.draw(3, *WHOLE).drawn
        self.followers = made_up_graph(self.draw("graph"), rig.USERS)

    def test_every_event_is_handed_out_and_some_several_times_in_another_order(self):
        placed = posts.draw_events(self.draw("posts"), 2_000, self.followers, 10 ** 12, 20)
        self.assertEqual(len({sending.event for sending in placed}), 2_000)
        self.assertEqual({sending.event.kind for sending in placed},
                         {"published", "deleted", "hidden", "unhidden", "edited"})
        reposts = [sending.event for sending in placed if sending.event.repost_of]
        self.assertGreater(len(reposts), 150)
        self.assertFalse({event.post for event in reposts} & {event.repost_of[0] for event in reposts})
        lists = posts.hand_out(self.draw("hands"), placed, 3)
        handed = [sending.event for sendings in lists for sending in sendings]
        self.assertEqual(set(handed), {sending.event for sending in placed})
        self.assertGreater(len(handed), 2_200)

    def test_no_edge_has_two_clients(self):
        lists = follows.draw_changes(self.draw("follows"), 1_000, self.followers, 4)
        self.assertEqual(sum(map(len, lists)), 1_000)
        edges = [{change.edge for change in changes} for changes in lists]
        self.assertEqual(len(set.union(*edges)), sum(map(len, edges)))
        self.assertTrue(all(reader != author for reader, author in set.union(*edges)))

    def test_what_loses_rows_has_edges_that_nobody_else_changes(self):
        lists = follows.draw_changes(self.draw("follows"), 1_000, self.followers, 4)
        others = {change.edge for changes in lists for change in changes}
        strangers = Strangers(self.followers, others)
        edges = strangers.edges(self.draw("rows"), 200) + strangers.edges(self.draw("more rows"), 200)
        pairs = [edge for pair in strangers.pairs(self.draw("pairs"), 50) for edge in pair]
        given = [edge for edge, _ in edges] + pairs
        self.assertEqual((len(given), len(set(given))), (500, 500))
        self.assertFalse(others & set(given))
        for (reader, author), there in edges + [(edge, False) for edge in pairs]:
            self.assertEqual(reader in self.followers[author], there)
        self.assertEqual(sum(there for _, there in edges), 200)
