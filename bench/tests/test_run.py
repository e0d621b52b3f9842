import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from bench import run
from bench.measure import row


class Rows(unittest.TestCase):
    """The command line beside measurements that are made up."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_bench(self, *words, value=1, breaks=None):
        """`breaks`: an error that comes between the two rows of cost."""
        def costs():
            yield row("cost_a", [value], "us", "other", [1])
            if breaks:
                raise breaks
            yield row("cost_b", [value], "us", "other", [1])

        def measurements(*_):
            yield "cost", costs
            yield "storm", lambda: [row("storm", [value], "x/s", "other", [1])]

        with mock.patch.object(run, "Rig") as rig, mock.patch.object(run, "measurements", measurements), \
                mock.patch("sys.argv", ["run.py", "--out", str(self.folder), *words]), \
                contextlib.redirect_stdout(io.StringIO()) as said, \
                contextlib.redirect_stderr(io.StringIO()):
            self.rig = rig.return_value.__enter__.return_value
            self.rig.in_memory = True
            rig.return_value.__exit__.return_value = None
            self.status = run.main()
        self.said = said.getvalue()
        report = json.loads((self.folder / "report.json").read_text())
        return {each["name"]: each for each in report}

    def values(self, rows):
        return {name: each["value"] for name, each in rows.items()}

    def test_some_rows_take_the_place_of_theirs_and_leave_the_others(self):
        self.run_bench()
        rows = self.run_bench("--rows", "cost", value=2)
        self.assertEqual(self.status, 0)
        self.assertEqual(self.values(rows), {"cost_a": 2, "cost_b": 2, "storm": 1})
        self.assertNotIn("storm", self.said, "only what was measured is told")
        self.assertEqual({name: each["of"] for name, each in rows.items()}, {"cost_a": "cost", "cost_b": "cost", "storm": "storm"})

    def test_all_rows_leave_nothing_of_before(self):
        (self.folder / "report.json").write_text("[{")
        self.assertEqual(self.values(self.run_bench(value=3)), {"cost_a": 3, "cost_b": 3, "storm": 3})

    def test_a_row_that_fails_is_named_and_the_rest_goes_on(self):
        rows = self.run_bench(breaks=TimeoutError("4876304 records are left"))
        self.assertEqual(self.values(rows), {"cost_a": 1, "storm": 1})
        self.assertEqual(self.status, 1)
        self.assertIn("cost failed: TimeoutError('4876304 records are left')", self.said)
        self.assertTrue(self.said.endswith("failed: cost\n"), self.said)
        self.rig.abandon.assert_called_once_with()

    def test_each_row_begins_on_a_fleet_that_has_settled(self):
        self.run_bench()
        self.assertEqual(self.rig.settle.call_count, 2)

    def test_what_was_measured_stays_when_the_run_is_ended(self):
        with self.assertRaises(KeyboardInterrupt):
            self.run_bench(breaks=KeyboardInterrupt())
        self.assertEqual([each["name"] for each in json.loads((self.folder / "report.json").read_text())], ["cost_a"])

    def test_a_name_that_is_none_ends_it(self):
        with self.assertRaisesRegex(SystemExit, "there is no row cots; there are cost, storm"):
            self.run_bench("--rows", "cots")
