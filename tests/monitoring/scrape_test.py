"""A real Prometheus scrapes the real daemons under load and faults: every expression of every rule and
of every panel comes to something, and alerts fire and end with their faults."""

import math
import re
import unittest
from collections import Counter

from tests.e2e import metric_habits
from tests.monitoring.dashboards import asked, expressions
from tests.monitoring.rules import all_rules, selectors_of
from tests.monitoring.watched import Watched, sees_fire

# What is empty when nothing is wrong: the series that it compares must be there.
COMPARES = re.compile(r" (==|>) ")


class Scrape(Watched):
    reconciler_args = ("--grace", "1s", "--removals-per-minute", "1")

    @sees_fire("FanlineBreakerOpen", "FanlineDeadLetters", "FanlineStoreAway")
    def test_everything_that_is_asked_comes_to_something(self):
        self.begin_load()
        self.addCleanup(self.load.end)
        with self.subTest("dead letters"):
            self.give_bad_events(2)
            self.wait_fires("FanlineDeadLetters", severity="ticket", job="fanline-dispatcher")
        with self.subTest("breaker"):
            mirror, = self.fleet.mirrors
            mirror.kill()
            self.end_follows_without_a_mirror(20, shard=0)
            self.wait_fires("FanlineBreakerOpen", severity="page", shard="0")
            mirror.start()
        with self.subTest("a store down"):
            self.stack.mysql[1].kill()
            self.wait_fires("FanlineStoreAway", severity="page", resource="mysql_1")
            self.assertFalse(self.fires("FanlineStoreAway", resource="mysql_0"))
            self.stack.mysql[1].start()
            self.wait_silent("FanlineStoreAway")
            # It began while the shard was away, and tells nothing of its work before it has all.
            mirror.wait_ready()
            self.wait_for(lambda: self.prometheus.query(asked("rate(fanline_rel_apply_total[$__rate_interval])")),
                          "the mirror to be scraped twice")
        self.check_rules()
        self.check_panels()
        self.check_habits()

    def check_habits(self):
        """After load and faults: labels and values that docs/metrics.md lists, few series, and
        buckets that tell observations apart."""
        listed, seen = metric_habits.listed_labels(), {}
        for daemon in [*self.fleet.daemons, self.reconciler, self.api]:
            with self.subTest(daemon.name):
                text = daemon.get("/metrics")[1]
                self.assertEqual(metric_habits.unlisted(text, listed), [])
                self.assertLess(metric_habits.series(text), metric_habits.MOST_SERIES)
            for name, counts in metric_habits.buckets(text).items():
                seen[name] = Counter(seen.get(name, {})) + Counter(counts)
        judged = {name: counts for name, counts in seen.items() if sum(counts.values()) >= 50}
        self.assertGreater(len(judged), 4)
        for name, counts in judged.items():
            with self.subTest(name):
                self.assertLess(counts[math.inf], 0.01 * sum(counts.values()), "above the last bucket")
                first = min(counts)  # nobody tells times below half a millisecond apart
                most = max(count for bound, count in counts.items() if bound != first)
                self.assertLess(most, 0.9 * sum(counts.values()), f"in one: {counts}")

    def check_rules(self):
        shown = {rule["name"]: rule for rule in self.prometheus.rules()}
        for rule in all_rules():
            with self.subTest(rule.name):
                self.assertEqual(shown[rule.name]["health"], "ok", shown[rule.name].get("lastError"))
                for selector in selectors_of(rule.expr):
                    self.assertNotEqual(self.prometheus.query(selector), [], selector)
                if not rule.is_alert:  # a new life of a daemon takes a scrape and an evaluation
                    self.wait_for(lambda name=rule.name: self.prometheus.query(name), rule.name)

    def check_panels(self):
        for place, expr in expressions():
            with self.subTest(place):
                if COMPARES.search(expr):
                    for selector in selectors_of(asked(expr)):
                        self.assertNotEqual(self.prometheus.query(selector), [], selector)
                    self.prometheus.query(asked(expr))
                else:
                    self.assertNotEqual(self.prometheus.query(asked(expr)), [], expr)
