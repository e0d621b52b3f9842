"""What tests/e2e/metric_habits.py finds wrong with a daemon's metrics."""

import re
import unittest

from tests.e2e import metric_habits

LISTED = {"shard": re.compile(r"\d+"), "result": re.compile("good|wrong")}


def typed(name, kind):
    return f"# HELP {name} x\n# TYPE {name} {kind}\n"


class Names(unittest.TestCase):
    def test_that_are_well_are_not_named(self):
        for name, kind in (("fanline_a_total", "counter"), ("fanline_a_seconds_total", "counter"),
                           ("fanline_a_seconds", "histogram"), ("fanline_a_items", "histogram"),
                           ("fanline_hints_open", "gauge"), ("fanline_build_info", "gauge"),
                           ("fanline_audit_last_round_timestamp_seconds", "gauge")):
            self.assertEqual(metric_habits.bad_names(typed(name, kind)), {}, name)

    def test_that_are_not_are(self):
        for name, kind in (("fanline_a", "counter"), ("fanline_a_total", "gauge"),
                           ("fanline_a_ms", "histogram"), ("fanline_a_kb", "gauge"),
                           ("fanline_seconds_open", "gauge"), ("fanline_seconds_of_a_total", "counter"),
                           ("fanline_a_minutes_total", "counter")):
            self.assertEqual(set(metric_habits.bad_names(typed(name, kind))), {name}, name)


class Labels(unittest.TestCase):
    def test_and_values_that_are_not_listed_are_found(self):
        text = ('fanline_a{shard="1",result="good"} 1\nfanline_a{shard="x",result="good"} 1\n'
                'fanline_b{user="5"} 2\nfanline_c_bucket{le="0.5"} 3\nprocess_cpu{mode="any"} 1\n')
        self.assertEqual(metric_habits.unlisted(text, LISTED), ['shard="x"', 'user="5"'])

    def test_of_the_page_have_patterns(self):
        listed = metric_habits.listed_labels()
        self.assertTrue(listed["resource"].fullmatch("mysql_12"))
        self.assertFalse(listed["resource"].fullmatch("mysql_"))
        self.assertTrue(listed["condition"].fullmatch("topic feed-events.dlq"))
        self.assertFalse(listed["status"].fullmatch("404"))


class Series(unittest.TestCase):
    def test_of_partitions_do_not_count(self):
        self.assertEqual(metric_habits.series(
            'fanline_a 1\nfanline_b{x="1"} 1\nfanline_b{x="2"} 1\n'
            'fanline_lag_records{topic="t",partition="7"} 0\n'), 3)


class Buckets(unittest.TestCase):
    def test_are_taken_apart_and_added_over_series(self):
        text = "".join(f'fanline_a_seconds_bucket{{x="{x}",le="{le}"}} {count}\n' for x in (1, 2)
                       for le, count in (("0.5", 2), ("1", 5), ("+Inf", 6)))
        self.assertEqual(metric_habits.buckets(text),
                         {"fanline_a_seconds": {0.5: 4, 1: 6, float("inf"): 2}})
