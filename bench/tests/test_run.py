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

    def run_bench(self, *words, value=1):
        def measurements(*_):
            yield "cost", lambda: [row(f"cost_{part}", [value], "us", "other", [1]) for part in ("a", "b")]
            yield "storm", lambda: [row("storm", [value], "x/s", "other", [1])]

        with mock.patch.object(run, "Rig") as rig, mock.patch.object(run, "measurements", measurements), \
                mock.patch("sys.argv", ["run.py", "--out", str(self.folder), *words]), \
                contextlib.redirect_stdout(io.StringIO()) as said:
            rig.return_value.__enter__.return_value.in_memory = True
            run.main()
        self.said = said.getvalue()
        report = json.loads((self.folder / "report.json").read_text())
        return {each["name"]: each for each in report}

    def values(self, rows):
        return {name: each["value"] for name, each in rows.items()}

    def test_some_rows_take_the_place_of_theirs_and_leave_the_others(self):
        self.run_bench()
        rows = self.run_bench("--rows", "cost", value=2)
        self.assertEqual(self.values(rows), {"cost_a": 2, "cost_b": 2, "storm": 1})
        self.assertNotIn("storm", self.said, "only what was measured is told")
        self.assertEqual({name: each["of"] for name, each in rows.items()}, {"cost_a": "cost", "cost_b": "cost", "storm": "storm"})

    def test_all_rows_leave_nothing_of_before(self):
        (self.folder / "report.json").write_text("[{")
        self.assertEqual(self.values(self.run_bench(value=3)), {"cost_a": 3, "cost_b": 3, "storm": 3})

    def test_a_name_that_is_none_ends_it(self):
        with self.assertRaisesRegex(SystemExit, "there is no row cots; there are cost, storm"):
            self.run_bench("--rows", "cots")


if __name__ == "__main__":
    unittest.main()
