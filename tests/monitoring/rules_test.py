"""The rules of prometheus/rules: promtool accepts them, its tests hold every alert from both sides, and
they are about metrics that there are."""

import re
import tempfile
import unittest
from collections import Counter
from importlib import import_module
from pathlib import Path

import yaml

from prometheus.grafana.build import ALL
from tests.e2e.decoding import ROOT
from tests.monitoring.rules import RULES, TESTS, Rule, alerts, all_rules, facts, problems, promtool
from tests.monitoring.watched import alerts_of

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
            for part in ("**Fires**", "**Ends**", "**Users**", "**Look at**", "**Type**"):
                self.assertIn(part, text, name)

    def test_each_section_says_when_its_alert_fires_as_the_rules_do(self):
        told = {name: text for page in (ROOT / "docs" / "runbooks").glob("*.md") for name, text in re.findall(
            r"^## (\w+)\n(\*\*Fires\*\*\s.*?\s\*\*Ends\*\*\s.*?)\n\n", page.read_text(), re.S | re.M)}
        told = {name: " ".join(text.split()) for name, text in told.items()}
        for name in {rule.name for rule in alerts()}:
            rules = [rule for rule in alerts() if rule.name == name]
            with self.subTest(name):
                self.assertEqual(set(re.findall(r"\bas a (page|ticket)\b", told[name])), {rule.labels["severity"] for rule in rules})
                for rule in rules:
                    for fact in facts(rule):
                        self.assertRegex(told[name], fact)

    def test_what_a_rule_says_of_itself_is_found(self):
        rule = Rule("x", "X", True, "a:late:ratio_rate6h > 6 * 0.01 or increase(b[15m]) > 3 unless c == 0", "2m", {}, {})
        said = ("6 % of 6 hours", "within 15 minutes", "more than 3 times", "for 2 minutes")
        self.assertTrue(all(re.search(fact, " ".join(said)) for fact in facts(rule)))
        for number in range(len(said)):
            text = " ".join(said[:number] + said[number + 1:])
            self.assertFalse(all(re.search(fact, text) for fact in facts(rule)), text)

    def test_runbooks_name_panels_that_there_are_on_the_dashboards_that_they_name(self):
        for page in (ROOT / "docs" / "runbooks" / f"{file}.md" for file in FILES):
            head = page.read_text().partition("\n## ")[0]
            shown = set(re.findall(r"`(Fanline / [^`]+)`", head))
            self.assertLessEqual(shown, {dashboard.title for dashboard in ALL}, page)
            titles = {dashboard.title: [panel.title for _, panels in dashboard.rows for panel in panels] for dashboard in ALL
                      if dashboard.title in shown}
            named = re.findall(r"(?<!\*)\*([A-Z][^*\n]*)\*(?!\*)", page.read_text())
            self.assertGreater(len(named), 3, page)
            for title in named:
                self.assertTrue(any(full.startswith(title) for all_of_one in titles.values() for full in all_of_one), (page, title))
            for dashboard, its in titles.items():
                self.assertTrue(any(full.startswith(title) for full in its for title in named), (page, dashboard))

    def test_a_real_fault_fires_every_alert(self):
        modules = {path.stem: import_module(f"tests.monitoring.{path.stem}") for path in Path(__file__).parent.glob("*_test.py")}
        fired = set().union(*map(alerts_of, modules.values()))
        self.assertEqual({rule.name for rule in alerts()}, fired)

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
