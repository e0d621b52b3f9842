"""docs/metrics.md says what the daemons export: the same names, types and labels, of each."""

import re
import unittest

from stack.local_stack import LocalStack
from stack.ports import Ports
from stack.programs.api import Api
from stack.programs.daemon import Daemon
from stack.programs.feedctl import Feedctl
from stack.programs.watch import Watch
from stack.waiting import NotInTime, wait_until
from tests.e2e import metric_habits
from tests.e2e.metrics_page import API, CONSUMING, WATCH, section, told

OF_PARTS = {"histogram": ("_bucket", "_sum", "_count")}  # a family's samples, by its type


def exported(text):
    """The same, of a scrape. The labels of a family are those of all its samples."""
    types = dict(re.findall(r"^# TYPE (fanline_\w+) (\w+)$", text, re.M))
    found = {}
    for sample, labels in re.findall(r"^(fanline_\w+)(?:\{(.*)\})? ", text, re.M):
        name = next(name for name, kind in types.items()
                    if sample in [name + part for part in OF_PARTS.get(kind, ("",))])
        has = set(re.findall(r'(\w+)="', labels)) - {"le"}
        found[name] = types[name], found.get(name, ("", frozenset()))[1] | has
    return found


class MetricsPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        ports = Ports()
        cls.addClassCleanup(ports.close)
        stack = LocalStack(ports=ports, say=lambda line: None)
        cls.addClassCleanup(stack.stop)
        stack.start()
        feedctl = Feedctl(stack)
        feedctl.run("init")
        feedctl.run("topics", "create")
        cls.daemons = {name: Daemon(stack, ports, f"fanline-{name.lower()}", name.lower())
                       for name in CONSUMING}
        cls.daemons[API] = Api(stack, ports)
        cls.daemons[WATCH] = Watch(stack, ports)
        for daemon in cls.daemons.values():
            daemon.start()
        for daemon in cls.daemons.values():
            daemon.wait_ready()

    def test_it_lists_what_each_daemon_exports(self):
        for name, daemon in self.daemons.items():
            with self.subTest(name):
                try:  # some are there once the daemon owns its partitions
                    wait_until(lambda: exported(daemon.get("/metrics")[1]) == told(name), 120, name)
                except NotInTime:
                    self.assertEqual(exported(daemon.get("/metrics")[1]), told(name))

    def test_names_end_in_base_units(self):
        for name, daemon in self.daemons.items():
            self.assertEqual(metric_habits.bad_names(daemon.get("/metrics")[1]), {}, name)

    def test_labels_and_their_values_are_listed(self):
        listed, used, unlisted = metric_habits.listed_labels(), {"le"}, {}
        for name, daemon in self.daemons.items():
            text = daemon.get("/metrics")[1]
            unlisted[name] = metric_habits.unlisted(text, listed)
            used.update(*(labels for _, labels, _ in metric_habits.samples(text)))
        self.assertEqual(unlisted, {name: [] for name in self.daemons})
        self.assertEqual(set(listed) | {"le"}, used, "the page lists a label that nobody has")

    def test_a_daemon_has_few_series(self):
        for name, daemon in self.daemons.items():
            count = metric_habits.series(daemon.get("/metrics")[1])
            self.assertLess(count, metric_habits.MOST_SERIES, name)

    def test_what_to_look_at_first_is_in_its_tables(self):
        known = {}
        for name in self.daemons:
            for family, (_, labels) in told(name).items():
                known.setdefault(family, set()).update(labels)
        asked = re.findall(r"`(fanline_\w+)(?:\{(\w+)[^`]*\})?`", section("Look at these first"))
        self.assertGreater(len(asked), 9)
        for family, label in asked:
            self.assertIn(family, known)
            self.assertIn(label, known[family] | {""}, family)
