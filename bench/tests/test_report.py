import json
import re
import tempfile
import unittest
from pathlib import Path

from bench import report


def row(name, of, value=1):
    return {"name": name, "of": of, "value": value}


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_rows_that_were_not_measured_again_stay_as_they_are(self):
        before = [row("storm_live", "storm"), row("timeline_bytes_compact", "timeline_bytes_compact")]
        rows = [row("timeline_bytes_compact", "timeline_bytes_compact", 2)]

        self.assertEqual(report.merged(before, rows), [before[0], *rows])

    def test_rows_that_were_measured_together_go_together(self):
        before = [row("event_cost_few_half", "event_cost"), row("event_cost_gone", "event_cost"), row("latency", "latency")]
        rows = [row("event_cost_few_half", "event_cost", 2)]

        self.assertEqual(report.merged(before, rows), [before[2], *rows])

    def test_a_row_of_a_report_of_before_is_known_by_its_name(self):
        self.assertEqual(report.merged([{"name": "a"}, {"name": "b"}], [row("a", "a")]), [{"name": "b"}, row("a", "a")])

    def test_a_whole_run_leaves_nothing_of_another(self):
        self.assertEqual(report.merged([], [row("a", "a")]), [row("a", "a")])

    def test_what_was_written_is_read(self):
        self.assertEqual(report.read(self.folder / "none"), [])
        report.write([row("a", "a")], self.folder / "deep")
        self.assertEqual(report.read(self.folder / "deep"), [row("a", "a")])

    def test_what_is_no_report_ends_the_run_before_it_begins(self):
        for text in "[{", "null", "[1]", '{"a": 1}', '[{"value": 1}]':
            (self.folder / report.REPORT_NAME).write_text(text)
            with self.subTest(text), self.assertRaisesRegex(SystemExit, "report.json is no report .*--out"):
                report.read(self.folder)

    def test_a_time_is_told_with_its_zone(self):
        self.assertRegex(report.now(), re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"))
        json.dumps(report.now())
