"""What /metrics says, read and added up."""

import math
import unittest

from stack.programs.metrics import Histogram, Samples

TEXT = """# HELP fanline_deliveries_total Posts for timelines
# TYPE fanline_deliveries_total counter
fanline_deliveries_total{result="added"} 7
fanline_deliveries_total{result="already_there"} 1
fanline_hints_open 3
fanline_wait_seconds_count{followers="lt_100"} 4
fanline_wait_seconds_sum{followers="lt_100"} 1.5
fanline_wait_seconds_bucket{followers="lt_100",le="0.1"} 1
fanline_wait_seconds_bucket{followers="lt_100",le="1"} 3
fanline_wait_seconds_bucket{followers="lt_100",le="+Inf"} 4
fanline_wait_seconds_bucket{followers="lt_1k",le="0.1"} 2
fanline_wait_seconds_bucket{followers="lt_1k",le="1"} 2
fanline_wait_seconds_bucket{followers="lt_1k",le="+Inf"} 2
fanline_odd{name="a \\"b\\", c=\\"d\\""} 1e+06
"""


class ReadMetrics(unittest.TestCase):
    def setUp(self):
        self.samples = Samples.parse(TEXT)

    def test_totals_go_over_the_labels_not_asked_for(self):
        self.assertEqual(self.samples.total("fanline_deliveries_total"), 8)
        self.assertEqual(self.samples.total("fanline_deliveries_total", result="added"), 7)
        self.assertEqual(self.samples.total("fanline_nothing_total"), 0)

    def test_labels_may_hold_anything(self):
        self.assertEqual(self.samples.total("fanline_odd", name='a \\"b\\", c=\\"d\\"'), 1e6)

    def test_histograms_of_all_labels_are_one(self):
        self.assertEqual(self.samples.histogram("fanline_wait_seconds"),
                         Histogram((0.1, 1, math.inf), (3, 2, 1)))

    def test_processes_add_up_and_a_part_of_the_time_is_a_difference(self):
        both = self.samples + self.samples
        self.assertEqual(both.total("fanline_deliveries_total"), 16)
        part = both - self.samples
        self.assertEqual(part.histogram("fanline_wait_seconds").total, 6)

    def test_a_process_that_is_gone_leaves_its_counters_and_no_gauge(self):
        left = self.samples.cumulative()
        self.assertEqual(left.total("fanline_hints_open"), 0)
        self.assertEqual(left.total("fanline_deliveries_total"), 8)
        self.assertEqual(left.histogram("fanline_wait_seconds").total, 6)


class Quantile(unittest.TestCase):
    def test_lies_in_its_bucket_in_proportion(self):
        histogram = Histogram((0.1, 1, math.inf), (10, 10, 0))
        self.assertAlmostEqual(histogram.quantile(0.25), 0.05)
        self.assertAlmostEqual(histogram.quantile(0.5), 0.1)
        self.assertAlmostEqual(histogram.quantile(0.75), 0.55)
        self.assertAlmostEqual(histogram.quantile(1), 1)

    def test_passes_over_empty_buckets(self):
        self.assertAlmostEqual(Histogram((1, 2, 3, math.inf), (0, 0, 4, 0)).quantile(0.5), 2.5)

    def test_of_nothing_is_none_and_beyond_the_last_bound_infinite(self):
        self.assertIsNone(Histogram((1, math.inf), (0, 0)).quantile(0.5))
        self.assertEqual(Histogram((1, math.inf), (1, 99)).quantile(0.5), math.inf)
