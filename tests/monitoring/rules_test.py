"""The rules of prometheus/rules: promtool accepts them, its tests hold every alert from both sides, and
they are about metrics that there are."""

import re
import tempfile
import unittest
from collections import Counter
from pathlib import Path

import yaml

from prometheus.grafana.build import ALL
from tests.e2e.decoding import ROOT
from tests.monitoring.rules import RULES, TESTS, alerts, all_rules, problems, promtool

FILES = sorted(path.stem for path in RULES.glob("*.yaml"))
RUNBOOK = re.compile(r"https://fanline\.example/runbooks/(\w+)/#(\w+)$")


class Rules(unittest.TestCase):
    def test_promtool_accepts_them(self):
        for name in FILES:
            code, said = promtool("check", "rules", "--lint=all", "--lint-fatal",
                                  str(RULES / f"{name}.yaml"))
            self.assertEqual(code, 0, said)

    def test_they_do_what_promtools_tests_say(self):
        for name in FILES:
            with self.subTest(name):
                code, said = promtool("test", "rules", str(TESTS / f"{name}.yaml"))
                self.assertEqual(code, 0, said)

    def test_each_alert_has_a_test_in_which_it_fires_and_one_in_which_it_does_not(self):
        fires, silent = set(), set()
        for name in FILES:
            for test in yaml.safe_load((TESTS / f"{name}.yaml").read_text())["tests"]:
                for look in test["alert_rule_test"]:
                    for expected in look["exp_alerts"]:
                        fires.add((look["alertname"], tuple(sorted(
                            (key, value) for key, value in expected["exp_labels"].items()
                            if key in ("severity", "window")))))
                    if not look["exp_alerts"]:
                        silent.add(look["alertname"])
        wanted = {rule.key for rule in alerts()}
        self.assertEqual(fires, wanted)
        self.assertEqual(silent, {name for name, _ in wanted})

    def test_their_expressions_are_about_metrics_and_labels_that_there_are(self):
        for rule in all_rules():
            with self.subTest(rule.name):
                self.assertEqual(problems(rule.expr), [])
        for wrong in ("sum(fanline_lag_second)", "fanline_lag_seconds{topics=\"x\"}",
                      "sum by (pod) (fanline_lag_seconds)", "fanline_ready_bucket",
                      "rate(namespace:fanline_nothing:rate5m[5m])"):
            self.assertNotEqual(problems(wrong), [], wrong)

    def test_each_alert_says_how_urgent_it_is_and_where_to_read_on(self):
        for rule in alerts():
            with self.subTest(rule.name):
                self.assertIn(rule.labels["severity"], ("page", "ticket"))
                self.assertEqual(set(rule.annotations), {"summary", "description", "runbook_url"})
                page, anchor = RUNBOOK.match(rule.annotations["runbook_url"]).groups()
                self.assertEqual((page, anchor), (rule.file, rule.name.lower()))

    def test_each_alert_has_a_section_of_a_runbook_and_each_section_an_alert(self):
        sections = {}
        for page in sorted((ROOT / "docs" / "runbooks").glob("*.md")):
            for name, text in re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", page.read_text(), re.S | re.M):
                sections[page.stem, name] = text
        self.assertEqual(set(sections), {(rule.file, rule.name) for rule in alerts()})
        for (_, name), text in sections.items():
            for part in ("**Users**", "**Look at**", "**Type**"):
                self.assertIn(part, text, name)

    def test_runbooks_name_panels_that_there_are(self):
        titles = {panel.title for dashboard in ALL for _, panels in dashboard.rows for panel in panels}
        for page in (ROOT / "docs" / "runbooks").glob("*.md"):
            named = re.findall(r"(?<!\*)\*([A-Z][^*\n]*)\*(?!\*)", page.read_text())
            self.assertGreater(len(named), 3, page)
            for title in named:
                self.assertTrue(any(full.startswith(title) for full in titles), (page, title))

    def test_the_page_says_which_alerts_a_real_fault_fires(self):
        page = (ROOT / "docs" / "monitoring.md").read_text()
        by_fault, by_promtool = re.search(r"^Alerts that a real fault(.*?)^Only `promtool`(.*)", page, re.S | re.M).groups()
        told = {test: set(re.findall(r"Fanline\w+", names)) for test, names in re.findall(
            r"^- `(\w+)\.py`:(.*?)(?=^- |\Z)", by_fault, re.S | re.M)}
        fired = {path.stem: set(names) for path in (ROOT / "tests" / "monitoring").glob("*_test.py")
                 if (names := re.findall(r"\.wait_fires\(\s*\"(Fanline\w+)\"", path.read_text()))}
        self.assertGreater(len(fired), 3)
        self.assertEqual(told, fired)
        rest = set(re.findall(r"Fanline\w+", by_promtool))
        self.assertEqual(rest, {rule.name for rule in alerts()} - set().union(*fired.values()))

    def test_the_configuration_that_the_page_shows_is_one(self):
        page = (ROOT / "docs" / "monitoring.md").read_text()
        shown = re.search(r"```yaml\n(# prometheus\.yml\n.*?)```", page, re.S)[1]
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "prometheus.yml").write_text(shown.replace("/etc/prometheus/fanline", str(RULES)))
            code, said = promtool("check", "config", "prometheus.yml", cwd=folder)
        self.assertEqual(code, 0, said)
        self.assertIn(f"{len(FILES)} rule files", said)

    def test_names_begin_with_ours_and_no_rule_stands_twice(self):
        for rule in all_rules():
            self.assertRegex(rule.name, r"^Fanline[A-Z]" if rule.is_alert else
                             r"^namespace(_[a-z]+)*:fanline_[a-z_]+:[a-z0-9_]+$")
        twice = [key for key, times in Counter(rule.key for rule in all_rules()).items() if times > 1]
        self.assertEqual(twice, [])


if __name__ == "__main__":
    unittest.main()
