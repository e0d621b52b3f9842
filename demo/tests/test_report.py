"""The report holds what was promised, and says what is wrong with it."""

import json
import tempfile
import unittest
from pathlib import Path

from demo import report
from stack.programs.metrics import Samples

GOOD = {
    "events": 25_000, "sub_tasks": 400_000, "followers": 3_000_000, "deliveries": 1_500_000,
    "skipped_not_live": 5_000_000, "deliveries_per_s": 150_000,
    "publish_to_last_delivery_ms": {"p50": 12.5, "p99": 80.0},
    "cpu_per_event_ms": {"half": 1.4, "burst": 1.2}, "live_timelines": 15_175,
    "trimmed_timelines": 1_500, "missing": 0, "extra": 0, "seconds": 88.8,
    "edges_forward": 600_000, "edges_reverse": 600_000, "differences_after": 0,
    "counter_drift_after": 0, "repairs": {"pair": 600, "log": 700, "scan": 300},
    "escapes": {"pair": 700, "log": 300, "scan": 0}, "repair_p99_s": 7.1,
    "relations_seconds": 45.6, "pages_per_s": 2_000, "page_p99_ms": 4.2, "pulled_pages": 30,
    "rebuilds": 9, "how": {"seed": 1},
}
LABEL = "result"


def complaints(**changes):
    return list(report.complaints({**GOOD, **changes}, least_trimmed=1_000))


class Report(unittest.TestCase):
    def test_has_a_line_for_every_promised_figure(self):
        lines = list(report.table(GOOD))
        self.assertEqual([line.split()[0] for line in lines], [n for n in GOOD if n != "how"])
        self.assertRegex(lines[6], r" 12\.5 / 80\.0  ms")
        self.assertRegex(lines[3], r"1,500,000 +posts +put into live timelines")

    def test_is_written_as_json_into_a_folder_that_need_not_exist(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a" / "b" / "report.json"
            report.write(GOOD, path)
            self.assertEqual(json.loads(path.read_text()), GOOD)

    def test_good_figures_cause_no_complaint(self):
        self.assertEqual(complaints(), [])

    def test_every_defect_causes_one(self):
        for defect in ({"missing": 1}, {"extra": 1}, {"trimmed_timelines": 999},
                       {"deliveries": 0},
                       {"publish_to_last_delivery_ms": {"p50": 1.0, "p99": None}}):
            with self.subTest(defect):
                self.assertEqual(len(complaints(**defect)), 1)


class Figures(unittest.TestCase):
    def test_come_from_the_daemons_counters(self):
        counters = Samples({("fanline_hints_appended_total", ()): 16.0,
                            ("fanline_followers_read_total", ()): 5.0,
                            ("fanline_followers_not_live_total", ()): 1_000.0})
        for number, result in enumerate(("added", "already_there", "not_live")):
            counters += Samples({("fanline_deliveries_total", ((LABEL, result),)): 10.0**number})
        self.assertEqual(report.work_figures(counters), {
            "sub_tasks": 16, "followers": 5, "deliveries": 1, "skipped_not_live": 1_100})

    def test_a_latency_that_was_not_measured_is_no_number(self):
        self.assertIsNone(report.milliseconds(None))
        self.assertIsNone(report.milliseconds(float("inf")))
        self.assertEqual(report.milliseconds(0.01234), 12.3)
