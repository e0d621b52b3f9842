"""A real Prometheus scrapes the real daemons under load and faults: every expression of every rule and
of every panel comes to something, and alerts fire and end with their faults."""

import re
import unittest

from tests.monitoring.dashboards import asked, expressions
from tests.monitoring.rules import all_rules, selectors_of
from tests.monitoring.watched import Watched

# What is empty when nothing is wrong: the series that it compares must be there.
COMPARES = re.compile(r" (==|>) ")


class Scrape(Watched):
    reconciler_args = ("--grace", "1s", "--mirror-group", "-", "--removals-per-minute", "1")

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
            self.wait_fires("FanlineStoreAway", severity="page", condition="mysql_1")
            self.assertFalse(self.fires("FanlineStoreAway", condition="mysql_0"))
            self.stack.mysql[1].start()
            self.wait_silent("FanlineStoreAway")
        self.check_rules()
        self.check_panels()

    def check_rules(self):
        shown = {rule["name"]: rule for rule in self.prometheus.rules()}
        for rule in all_rules():
            with self.subTest(rule.name):
                self.assertEqual(shown[rule.name]["health"], "ok", shown[rule.name].get("lastError"))
                for selector in selectors_of(rule.expr):
                    self.assertNotEqual(self.prometheus.query(selector), [], selector)
                if not rule.is_alert:
                    self.assertNotEqual(self.prometheus.query(rule.name), [])

    def check_panels(self):
        for place, expr in expressions():
            with self.subTest(place):
                if COMPARES.search(expr):
                    for selector in selectors_of(asked(expr)):
                        self.assertNotEqual(self.prometheus.query(selector), [], selector)
                    self.prometheus.query(asked(expr))
                else:
                    self.assertNotEqual(self.prometheus.query(asked(expr)), [], expr)


if __name__ == "__main__":
    unittest.main()
