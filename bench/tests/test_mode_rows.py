import unittest

from bench.mode_rows import _rows


class Rows(unittest.TestCase):
    def test_each_figure_of_a_mode_stands_beside_that_of_polls(self):
        mine = {"row": 6, "row_p99": 20, "hint": 8, "hint_p99": 30, "cpu": 900, "follow": 7_000}
        polled = {name: 2 * figure for name, figure in mine.items()}
        rows = {row["name"]: row for row in _rows([(mine, polled)])}
        self.assertEqual({name: row["value"] for name, row in rows.items()},
                         {"edge_row_log": 6, "edge_row_log_p99": 20, "edge_hint_log": 8, "edge_hint_log_p99": 30,
                          "edge_cpu_log": 900, "follow_async_log": 7_000})
        self.assertTrue(all(row["ratio"] == 0.5 for row in rows.values()))


if __name__ == "__main__":
    unittest.main()
