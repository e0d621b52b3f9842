import unittest

from bench.backlog_run import Moment
from bench.measure import interleaved, is_warm, row
from bench.rows import reached


class Interleaved(unittest.TestCase):
    def test_takes_turns_in_going_first_and_forgets_the_round_that_warms_up(self):
        calls = []
        pairs = interleaved(3, lambda number: calls.append("mine") or f"m{number}",
                            lambda number: calls.append("beside") or f"b{number}")

        self.assertEqual(pairs, [("m1", "b1"), ("m2", "b2"), ("m3", "b3")])
        self.assertEqual(calls, ["beside", "mine", "mine", "beside"] * 2)


class Steady(unittest.TestCase):
    def test_costs_are_steady_once_two_rounds_are_no_cheaper_than_all_before(self):
        self.assertFalse(is_warm([]) or is_warm([0.1]) or is_warm([0.1, 0.6, 0.1]))
        self.assertTrue(is_warm([0.6, 0.2, 0.1]))


class Row(unittest.TestCase):
    def test_the_ratio_is_that_of_the_medians_the_spread_that_of_the_rounds(self):
        found = row("r", [10, 30, 20], "x/s", "other", [20, 20, 10])

        self.assertEqual((found["value"], found["beside_value"], found["ratio"]), (20, 20, 1.0))
        self.assertEqual((found["ratio_min"], found["ratio_median"], found["ratio_max"]),
                         (0.5, 1.5, 2.0))
        self.assertEqual(found["rounds"], 3)

    def test_one_round_has_no_spread(self):
        self.assertNotIn("ratio_min", row("r", [1], "x", "other", [2]))


class Reached(unittest.TestCase):
    MOMENTS = [Moment(1.0, 100, {}), Moment(2.0, 100, {}), Moment(3.0, 300, {})]

    def test_lies_between_two_looks(self):
        self.assertEqual(reached(self.MOMENTS, 50), 0.5)
        self.assertEqual(reached(self.MOMENTS, 200), 2.5)
        self.assertEqual(reached(self.MOMENTS, 300), 3.0)

    def test_what_was_not_reached_has_no_time(self):
        with self.assertRaises(ValueError):
            reached(self.MOMENTS, 301)
