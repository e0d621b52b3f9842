import unittest

from bench.against import chosen, compared


def rows(speed, size):
    return [{"name": "speed", "value": speed, "unit": "rows/s"},
            {"name": "size", "value": size, "unit": "bytes"}]


class Compared(unittest.TestCase):
    def test_a_ratio_above_one_is_better_for_speeds_and_for_costs(self):
        speed, size = compared([(rows(200, 10), rows(100, 40))])

        self.assertEqual((speed["ratio_median"], size["ratio_median"]), (2.0, 4.0))

    def test_ratios_are_of_pairs_and_their_spread_is_said(self):
        speed, _ = compared([(rows(speed, 1), rows(other, 1))
                             for speed, other in ((10, 10), (30, 10), (10, 20))])

        self.assertEqual((speed["ratio_min"], speed["ratio_median"], speed["ratio_max"]),
                         (0.5, 1.0, 3.0))
        self.assertEqual(speed["rounds"], 3)

    def test_the_processor_time_of_a_delivery_is_compared_too(self):
        def side(redis):
            return [{"name": "d", "value": 1, "unit": "deliveries/s",
                     "cpu_us_per_delivery": {"redis": redis, "pusher": 2}}]

        ratios = {row["name"]: row["ratio_median"] for row in compared([(side(6), side(12))])}
        self.assertEqual(ratios, {"d": 1.0, "d_cpu_redis": 2.0, "d_cpu_all": 1.75})

    def test_an_event_of_the_burst_is_compared_too(self):
        def side(burst):
            return [{"name": "cpu_per_event_half", "value": 9, "unit": "CPU us/event",
                     "burst_cpu_us_per_event": {"redis": burst, "kafka": 1}}]

        ratios = {row["name"]: row["ratio_median"] for row in compared([(side(2), side(5))])}
        self.assertEqual(ratios, {"cpu_per_event_half": 1.0, "cpu_per_event_burst": 2.0})

    def test_a_row_that_one_side_lacks_is_left_out(self):
        self.assertEqual([row["name"] for row in compared([(rows(1, 1), rows(1, 1)[:1])])],
                         ["speed"])

    def test_an_unknown_row_is_refused_by_name(self):
        with self.assertRaisesRegex(SystemExit, "there is no row nope; there are a, b"):
            chosen(["a", "b"], ["a"], ["nope"])
        self.assertEqual(chosen(["a", "b"], ["a"], None), ["a"])

    def test_rows_that_take_minutes_are_taken_only_when_named(self):
        names = ["a", "recovery"]
        self.assertEqual(chosen(names, names, None), ["a"])
        self.assertEqual(chosen(names, names, ["recovery"]), ["recovery"])
