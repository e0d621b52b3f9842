"""What the tests of the alerts are worth: each alert is changed, and promtool's tests must notice."""

import re
import tempfile
import unittest
from collections import Counter
from pathlib import Path

import yaml

from tests.monitoring.rules import RULES, TESTS, alerts, promtool

FILES = sorted(path.stem for path in RULES.glob("*.yaml"))
# The comparison that decides, with the number behind it.
DECIDES = re.compile(r"(?:>|==) (?:[\d.]+ \* )?[\d.]+(?=\s*\)?\s*(?:$|and |or ))")


def never(rule):
    rule["expr"] = f"({rule['expr']}) and on () (vector(1) > 2)"


def at_once(rule):
    if "for" not in rule:
        return False
    del rule["for"]


def always(rule):
    """The comparison that decides holds for whatever there is."""
    changed = DECIDES.sub("> -1", rule["expr"])
    if changed == rule["expr"]:
        return False
    rule["expr"] = changed


class Mutants(unittest.TestCase):
    """Alerts of one name, of which there may be several, are changed one after the other; alerts of
    different names together, since their tests do not meet."""

    def test_an_alert_that_never_fires_fails_its_tests(self):
        self.assertEqual(self.survivors(never), [])

    def test_an_alert_that_does_not_wait_fails_its_tests(self):
        self.assertEqual(self.survivors(at_once), [])

    def test_an_alert_that_always_fires_fails_its_tests(self):
        self.assertEqual(self.survivors(always), [])

    def survivors(self, change):
        survived, changed = [], 0
        for name in FILES:
            text = (RULES / f"{name}.yaml").read_text()
            for number in range(max(Counter(rule.name for rule in alerts() if rule.file == name).values())):
                rules, seen, mutated = yaml.safe_load(text), Counter(), []
                for group in rules["groups"]:
                    for rule in group["rules"]:
                        if "alert" in rule:
                            if seen[rule["alert"]] == number and change(rule) is not False:
                                mutated.append(rule["alert"])
                            seen[rule["alert"]] += 1
                if mutated:
                    failed = self.failed(name, rules, mutated)
                    survived += [f"{alert} ({number + 1})" for alert in mutated if alert not in failed]
                    changed += len(mutated)
        self.assertGreater(changed, 20)
        return survived

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


if __name__ == "__main__":
    unittest.main()
