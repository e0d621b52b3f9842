import unittest
from collections import Counter

from bench.scan_rows import Scan, at_once, cpu, default_of, lasting, made_up


class MadeUp(unittest.TestCase):
    def test_nobody_follows_anybody_twice_nor_themselves(self):
        edges = list(made_up(2_000))
        self.assertEqual(len(set(edges)), 2_000)
        self.assertFalse([src for src, dst in edges if src == dst])

    def test_the_same_edges_come_in_every_run(self):
        self.assertEqual(list(made_up(400)), list(made_up(400)))

    def test_few_edges_have_enough_users(self):
        self.assertEqual(len(set(made_up(20))), 20)


class Said(unittest.TestCase):
    def test_a_scan_of_very_many_edges_is_told_at_both_speeds(self):
        self.assertEqual(lasting(100_000, 2, 2_000),
                         "10^9 edges on 2 shards take 2.8 h at that speed, 69 h at the default pace of 2,000 rows/s of "
                         "each table and shard")

    def test_the_default_pace_is_the_programs(self):
        told = "  --x N\n        FANLINE_FULL_SCAN_RATE, 0..1000000, default 2000\n        FANLINE_Y, default 3\n"
        self.assertEqual(default_of(told, "FANLINE_FULL_SCAN_RATE"), 2_000)

    def test_the_share_at_once_is_the_median_of_the_rounds(self):
        self.assertEqual(at_once([50, 60, 90], [100, 100, 100]),
                         "beside a connection to each server at once, 100/s: 0.60")

    def test_processor_time_is_told_of_each_edge(self):
        scans = [Scan(10, 1.0, Counter({"mariadb": 2.0})), Scan(10, 1.0, Counter({"mariadb": 4.0}))]
        self.assertEqual(cpu(scans, 1_000_000), "CPU us of each: mariadb 3")


if __name__ == "__main__":
    unittest.main()
