"""Rows of the bench on a tiny installation come complete and in shape. What they say about speed means
nothing. All rows are tried by bench_whole_test.py."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROWS = ("timeline_bytes_compact", "timeline_bytes_skiplist", "deliveries_live100_compact",
        "deliveries_live100_compact_one_post", "deliveries_live5_compact", "page_library", "follow_async",
        "follow_sync")


class Bench(unittest.TestCase):
    """Runs these rows, once for all tests."""
    rows_named = ROWS
    rows_made = set(ROWS)

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run(["/usr/bin/python3", ROOT / "bench" / "run.py", "--quick", "--out", folder,
                                  *(["--rows", ",".join(cls.rows_named)] if cls.rows_named else [])],
                                 capture_output=True, text=True, timeout=800)
            if run.returncode != 0:
                raise RuntimeError(f"the bench ended with {run.returncode}: {run.stdout}{run.stderr}")
            cls.said = run.stdout
            cls.rows = {row["name"]: row
                        for row in json.loads((Path(folder) / "report.json").read_text())}

    def check_rows(self):
        self.assertEqual(set(self.rows), self.rows_made)
        table = self.said[self.said.index("least..most"):]
        for name, row in self.rows.items():
            with self.subTest(name):
                self.assertTrue(row["unit"] and row["beside"] and row["machine"])
                self.assertGreater(row["value"], 0)
                self.assertGreater(row["beside_value"], 0)
                self.assertAlmostEqual(row["ratio"], row["value"] / row["beside_value"])
                self.assertIn(name, table)


class BenchTest(Bench):
    def test_every_row_is_there_and_in_shape(self):
        self.check_rows()

    def test_one_post_per_zadd_means_one(self):
        self.assertEqual(self.rows["deliveries_live100_compact_one_post"]["posts_per_zadd"], 1)
        self.assertGreater(self.rows["deliveries_live100_compact"]["posts_per_zadd"], 1)

    def test_rows_of_statements_say_which_and_how_durable(self):
        for name in ("follow_async", "follow_sync"):
            with self.subTest(name):
                self.assertIn("ON DUPLICATE KEY UPDATE", self.rows[name]["statement"])
                self.assertIn("innodb_flush_log_at_trx_commit=2", self.rows[name]["durability"])
                self.assertIn(self.rows[name]["statement"], self.said)

    def test_a_compact_timeline_is_far_smaller(self):
        compact, skiplist = (self.rows[f"timeline_bytes_{encoding}"]["value"]
                             for encoding in ("compact", "skiplist"))
        self.assertLess(compact, skiplist / 1.5)  # Redis: 5.5 times; Valkey, whose skiplists are small: 1.7


class AgainstTest(unittest.TestCase):
    def test_a_side_answers_a_row_as_often_as_it_is_asked(self):
        run = subprocess.run(["/usr/bin/python3", ROOT / "bench" / "against_side.py", ROOT, "--quick"],
                             input="follow_async\n" * 2, capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, 0, run.stderr)
        for line in run.stdout.splitlines():
            self.assertGreater(json.loads(line)[0]["value"], 0)
        self.assertEqual(len(run.stdout.splitlines()), 2)
