"""The dashboards of prometheus/dashboards: what the code builds, complete, and about metrics there are."""

import itertools
import json
import re
import unittest

from prometheus.grafana.build import ALL, DASHBOARDS, texts
from tests.monitoring.dashboards import panels
from tests.monitoring.rules import labels_of, problems

UNITS = {"s", "ops", "short", "percentunit", "bytes"}


def built():
    return {name: json.loads(text) for name, text in texts().items()}


class Dashboards(unittest.TestCase):
    def test_what_is_checked_in_is_what_the_code_builds(self):
        there = {path.name: path.read_text() for path in DASHBOARDS.glob("*.json")}
        self.assertEqual(there, texts(), "run python3 -m prometheus.grafana.build")

    def test_each_has_an_address_and_the_two_variables(self):
        self.assertEqual(len({dashboard.uid for dashboard in ALL}), len(ALL))
        for name, dashboard in built().items():
            self.assertEqual([variable["name"] for variable in dashboard["templating"]["list"]],
                             ["datasource", "namespace"], name)
            self.assertGreater(len(panels(dashboard)), 9, name)

    def test_each_panel_says_what_it_shows_in_which_unit_and_asks_the_chosen_source(self):
        for name, dashboard in built().items():
            for panel in panels(dashboard):
                with self.subTest(f"{name}: {panel['title']}"):
                    self.assertRegex(panel["description"], r"\w.*\.$")
                    self.assertIn(panel["fieldConfig"]["defaults"]["unit"], UNITS)
                    self.assertGreater(len(panel["targets"]), 0)
                    for asked in (panel, *panel["targets"]):
                        self.assertEqual(asked["datasource"]["uid"], "${datasource}")

    def test_each_expression_is_about_metrics_there_are_of_the_chosen_installation(self):
        for name, dashboard in built().items():
            for panel in panels(dashboard):
                for target in panel["targets"]:
                    with self.subTest(f"{name}: {panel['title']}"):
                        self.assertEqual(problems(target["expr"]), [])
                        selectors = re.findall(r"\{([^{}]*)\}", target["expr"])
                        self.assertTrue(selectors)
                        for selector in selectors:
                            self.assertIn('namespace=~"$namespace"', selector)

    def test_legends_name_labels_that_are_left(self):
        for name, dashboard in built().items():
            for panel in panels(dashboard):
                for target in panel["targets"]:
                    asked = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
                    self.assertLessEqual(asked, labels_of(target["expr"]), panel["title"])

    def test_no_panel_lies_on_another(self):
        for name, dashboard in built().items():
            numbers = [panel["id"] for panel in dashboard["panels"]]
            self.assertEqual(len(set(numbers)), len(numbers))
            for one, other in itertools.combinations([p["gridPos"] for p in dashboard["panels"]], 2):
                apart = (one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"] or
                         one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"])
                self.assertTrue(apart, (name, one, other))
                self.assertLessEqual(one["x"] + one["w"], 24)
