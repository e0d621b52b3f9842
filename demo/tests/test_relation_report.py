"""The relations chapter's figures come from rows, counters and repairs; every defect is said."""

import unittest

from demo import relation_report
from demo.relation_report import Found
from stack.programs.metrics import Samples

ROWS = {"1 2 10 1 5", "3 4 11 0 5"}
NAME = "fanline_relation_repairs_total"
COUNTERS = Samples({(NAME, (("cause", "missing"), ("net", "pair"))): 3.0,
                    (NAME, (("cause", "lost"), ("net", "pair"))): 1.0,
                    (NAME, (("cause", "missing"), ("net", "log"))): 8.0,
                    ("fanline_relation_escapes_total", (("found_by", "log"), ("missed_by", "pair"))): 7.0})
GOOD = Found(ROWS, ROWS, [], COUNTERS, {(1, 2): 1_000, (3, 4): 2_000},
             {(1, 2): 4_500, (3, 4): 9_250, (5, 6): 90_000})


def judged(found):
    figures = relation_report.figures(found, 41.26)
    return figures, list(relation_report.complaints(figures, found))


class Figures(unittest.TestCase):
    def test_of_a_good_end(self):
        self.assertEqual(judged(GOOD), ({
            "edges_forward": 2, "edges_reverse": 2, "differences_after": 0,
            "counter_drift_after": 0, "repairs": {"pair": 4, "log": 8, "scan": 0}, "escapes": {"pair": 7, "log": 0, "scan": 0}, "repair_p99_s": 7.2,
            "relations_seconds": 41.3}, []))

    def test_the_time_to_repair_is_of_99_in_100_lost_changes(self):
        edges = {(n, 1): 0 for n in range(200)}
        repaired = {(n, 1): n * 1_000 for n in range(200)}
        figures, _ = judged(GOOD._replace(injected=edges, repaired=repaired))
        self.assertEqual(figures["repair_p99_s"], 197.0)


class Complaints(unittest.TestCase):
    def test_every_defect_causes_one(self):
        for defect in ({"reverse": ROWS - {"3 4 11 0 5"}}, {"forward": ROWS | {"7 8 1 1 1"}},
                       {"wrong_counters": [("2", "1", "0")]}, {"repaired": {(1, 2): 4_500}},
                       {"counters": Samples({("fanline_rel_counter_negative_total", ()): 1.0})},
                       {"counters": Samples({("fanline_events_rejected_total", ()): 1.0})}):
            with self.subTest(defect):
                self.assertEqual(len(judged(GOOD._replace(**defect))[1]), 1)

    def test_a_row_that_differs_counts_on_both_sides(self):
        figures, complaints = judged(GOOD._replace(reverse={"1 2 10 0 5", "3 4 11 0 5"}))
        self.assertEqual(figures["differences_after"], 2)
        self.assertIn("1 2 10 0 5", complaints[0])
