import unittest
from pathlib import Path

from bench import fairness_rows

_HEADER = Path(__file__).resolve().parents[2] / "fanline" / "model" / "size_class.h"


class Classes(unittest.TestCase):
    def test_a_list_of_followers_has_the_class_that_the_pusher_counts_it_under(self):
        for followers, expected in ((1, "lt_100"), (99, "lt_100"), (100, "lt_1k"), (200, "lt_1k"), (5_000, "lt_10k"),
                                    (999_999, "lt_1m"), (1_000_000, "ge_1m"), (20_000_000, "ge_1m")):
            self.assertEqual(fairness_rows.size_class(followers), expected)
        for name in ("lt_100", "ge_1m"):
            self.assertIn(f'"{name}"', _HEADER.read_text())
