"""What the tests of the alerts are worth: each alert is changed, and promtool's tests must notice."""

import re
import tempfile
import unittest
from collections import Counter
from pathlib import Path

import yaml

from tests.monitoring.rules import RULES, TESTS, alternatives, promtool

FILES = sorted(path.stem for path in RULES.glob("*.yaml"))
# The comparison that decides, with the number behind it.
DECIDES = re.compile(r"(?:>|==) (?:[\d.]+ \* )?[\d.]+(?: \+ [\d.]+ \* .*)?(?=\s*\)?\s*(?:$|and |or ))")


def never(rule):
    yield {**rule, "expr": f"({rule['expr']}) and on () (vector(1) > 2)"}


def at_once(rule):
    if "for" in rule:
        yield {name: value for name, value in rule.items() if name != "for"}


def always(rule):
    """The comparison that decides holds for whatever there is."""
    yield from changed(rule, DECIDES.sub("> -1", rule["expr"]))


def less(rule):
    """Of the things that each by itself make it fire, one is not looked at."""
    parts = alternatives(rule["expr"])
    for number in range(len(parts) if len(parts) > 1 else 0):
        yield {**rule, "expr": " or ".join(parts[:number] + parts[number + 1:])}


def of_others(rule):
    """What holds of one daemon is asked of any."""
    yield from each_place(rule, r"on \(namespace, job, instance\)", "on (namespace, job)")


def of_another_job(rule):
    """What holds of one daemon is asked of whatever else is scraped there."""
    yield from each_place(rule, r"on \(namespace, job, instance\)", "on (namespace, instance)")


def of_any_fleet(rule):
    """What many together may do is allowed to one, and to as many as there are just now."""
    yield from each_place(rule, r"(> [\d.]+) \+ [\d.]+ \* max_over_time\(.*\[\d+m:\]\)", r"\1")
    yield from each_place(rule, r"\* max_over_time(\(.*)\[\d+m:\]\)", r"* \1)")


def of_any_age(rule):
    """A start of late is one of any time."""
    yield from each_place(rule, r"(process_start_time_seconds) < \d+", r"\1 > -1")


def each_place(rule, pattern, instead):
    for found in re.finditer(pattern, rule["expr"]):
        yield from changed(rule, rule["expr"][:found.start()] + found.expand(instead) + rule["expr"][found.end():])


def changed(rule, expr):
    if expr != rule["expr"]:
        yield {**rule, "expr": expr}


class Mutants(unittest.TestCase):
    """Mutants of one alert are judged one after the other; those of different alerts together, since
    their tests do not meet."""

    def test_an_alert_that_never_fires_fails_its_tests(self):
        self.assertEqual(self.survivors(never, least=20), [])

    def test_an_alert_that_does_not_wait_fails_its_tests(self):
        self.assertEqual(self.survivors(at_once, least=20), [])

    def test_an_alert_that_always_fires_fails_its_tests(self):
        self.assertEqual(self.survivors(always, least=20), [])

    def test_an_alert_that_looks_at_less_fails_its_tests(self):
        self.assertEqual(self.survivors(less, least=20), [])

    def test_an_alert_that_takes_one_daemon_for_another_fails_its_tests(self):
        self.assertEqual(self.survivors(of_others, least=6), [])

    def test_an_alert_that_does_not_ask_how_many_there_are_fails_its_tests(self):
        self.assertEqual(self.survivors(of_any_fleet, least=2), [])

    def test_an_alert_that_takes_anothers_start_for_the_daemons_fails_its_tests(self):
        self.assertEqual(self.survivors(of_another_job, least=6), [])

    def test_an_alert_that_takes_an_old_start_for_one_of_late_fails_its_tests(self):
        self.assertEqual(self.survivors(of_any_age, least=6), [])

    def survivors(self, mutants, least):
        survived, judged = [], 0
        for name in FILES:
            text = (RULES / f"{name}.yaml").read_text()
            turn, mutated = 0, True
            while mutated:
                rules = yaml.safe_load(text)
                if mutated := self.mutated(rules, mutants, turn):
                    failed = self.failed(name, rules, mutated)
                    survived += [f"{alert} ({turn + 1})" for alert in mutated if alert not in failed]
                    judged += len(mutated)
                turn += 1
        self.assertGreaterEqual(judged, least)
        return survived

    @staticmethod
    def mutated(rules, mutants, turn):
        """Puts the `turn`-th mutant of each alert in its place; names of those that have so many."""
        seen, done = Counter(), []
        for group in rules["groups"]:
            for place, rule in enumerate(list(group["rules"])):
                for mutant in mutants(rule) if "alert" in rule else ():
                    if seen[rule["alert"]] == turn:
                        group["rules"][place] = mutant
                        done.append(rule["alert"])
                    seen[rule["alert"]] += 1
        return done

    def failed(self, name, rules, mutated):
        """Alerts whose tests fail with these rules."""
        tests = yaml.safe_load((TESTS / f"{name}.yaml").read_text())
        for test in tests["tests"]:
            test["alert_rule_test"] = [look for look in test["alert_rule_test"]
                                       if look["alertname"] in mutated]
        tests["tests"] = [test for test in tests["tests"] if test["alert_rule_test"]]
        with tempfile.TemporaryDirectory() as folder:
            tests["rule_files"] = ["rules.yaml"]
            (Path(folder) / "rules.yaml").write_text(yaml.safe_dump(rules))
            (Path(folder) / "tests.yaml").write_text(yaml.safe_dump(tests))
            code, said = promtool("test", "rules", "tests.yaml", cwd=folder)
        self.assertIn(code, (0, 1), said)
        return set(re.findall(r"alertname: (\w+), time:", said))
