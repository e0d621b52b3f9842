import unittest

from bench.handover_rows import Gaps


class GapsTest(unittest.TestCase):
    def test_the_longest_is_that_of_the_worst_partition(self):
        gaps = Gaps.of({0: [10.1, 10.2, 10.3], 1: [10.1, 11.0, 11.1]}, 10.0, 11.2)
        self.assertAlmostEqual(gaps.longest, 0.9)

    def test_a_partition_that_is_still_at_the_end_or_at_the_start_counts(self):
        self.assertAlmostEqual(Gaps.of({0: [10.1, 10.2]}, 10.0, 12.2).longest, 2.0)
        self.assertAlmostEqual(Gaps.of({0: [13.0, 13.1]}, 10.0, 13.2).longest, 3.0)
        self.assertAlmostEqual(Gaps.of({0: []}, 10.0, 14.0).longest, 4.0)

    def test_still_is_the_mean_over_partitions_of_what_no_steady_gap_explains(self):
        steady = [10.2, 10.4, 10.6, 10.8]
        gaps = Gaps.of({0: steady, 1: [10.1, 10.8]}, 10.0, 11.0)
        self.assertAlmostEqual(gaps.still, 0.7 / 2)
