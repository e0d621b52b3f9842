"""The bench on a tiny installation: all rows come, complete and in shape. What they say about speed
means nothing."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHARES, ENCODINGS = ("live100", "live20", "live5"), ("compact", "skiplist")
ROWS = ({f"timeline_bytes_{encoding}" for encoding in ENCODINGS}
        | {f"deliveries_{share}_{encoding}" for share in SHARES for encoding in ENCODINGS}
        | {"deliveries_live100_compact_hints_only", "deliveries_live100_compact_one_post",
           *(f"cpu_per_event_{share}" for share in ("half", "quarter", "tenth")),
           *(f"latency_{share}_rate{suffix}" for share in ("half", "quarter", "tenth")
             for suffix in ("", "_p99")),
           "last_fifth_of_a_million", "rss_dispatcher_mb", "rss_pusher_mb", "dispatch_cost_ratio",
           "follow_async", "follow_sync",
           "cluster_vs_single", "backlog_drain", "backlog_drain_rss_mb", "recovery_failover",
           "recovery_kill", "handover_gap", "import_rows",
           *(f"rebuild{p99}_{followees}" for p99 in ("", "_p99") for followees in (10, 200, 2_000)),
           "page_library", "page_http", "page_p99_under_fanout", "page_below_floor", "hybrid_page",
           *(f"fairness_{what}_live{percent}" for what in ("p99_ratio", "fanout") for percent in (5, 100)),
           *(f"edge_{what}_{when}{p99}" for what in ("row", "hint") for when in ("alone", "load")
             for p99 in ("", "_p99")), "edge_cpu_load", "edge_drain_1", "edge_drain_2",
           "storm_live", "storm_pushes", "storm_pages",
           *(f"event_cost_{block}_{share}" for block in ("few", "moderate", "live20", "live100")
             for share in ("half", "tenth")),
           "capacity_redis_bytes", *(f"capacity_{what}_{authors}" for authors in ("even", "followed")
                                     for what in ("cores", "lag", "lag_p99"))})


class BenchTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run(["/usr/bin/python3", ROOT / "bench" / "run.py", "--quick", "--out",
                                  folder], capture_output=True, text=True, timeout=800)
            if run.returncode != 0:
                raise RuntimeError(f"the bench ended with {run.returncode}: {run.stdout}{run.stderr}")
            cls.said = run.stdout
            cls.rows = {row["name"]: row
                        for row in json.loads((Path(folder) / "report.json").read_text())}

    def test_every_row_is_there_and_in_shape(self):
        self.assertEqual(set(self.rows), ROWS)
        for name, row in self.rows.items():
            with self.subTest(name):
                self.assertTrue(row["unit"] and row["beside"] and row["machine"])
                self.assertGreater(row["value"], 0)
                self.assertGreater(row["beside_value"], 0)
                self.assertAlmostEqual(row["ratio"], row["value"] / row["beside_value"])

    def test_the_table_shows_every_row(self):
        table = self.said[self.said.index("least..most"):]
        for name in ROWS:
            self.assertIn(name, table)

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
                             for encoding in ENCODINGS)
        self.assertLess(compact, skiplist / 4)


class AgainstTest(unittest.TestCase):
    def test_a_side_answers_a_row_as_often_as_it_is_asked(self):
        run = subprocess.run(["/usr/bin/python3", ROOT / "bench" / "against_side.py", ROOT, "--quick"],
                             input="follow_async\n" * 2, capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, 0, run.stderr)
        for line in run.stdout.splitlines():
            self.assertGreater(json.loads(line)[0]["value"], 0)
        self.assertEqual(len(run.stdout.splitlines()), 2)


if __name__ == "__main__":
    unittest.main()
