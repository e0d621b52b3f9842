"""A Prometheus server that scrapes once a second, with rules that it judges as often."""

import json
import urllib.error
import urllib.parse
import urllib.request

from stack.services.service import Service, ServiceFailed
from stack.workspace import BUILD

SERVER = BUILD / "tools" / "prometheus"  # unpacked by stack/setup
_CONSOLES = "/nonexistent"  # pages of its own that nobody opens


class Prometheus(Service):
    def __init__(self, workspace, ports, env, targets, rules=()):
        """`targets`: job -> ports on this machine. `rules`: text of each file of rules."""
        super().__init__("prometheus", workspace, ports, env)
        self._targets, self._rules = targets, list(rules)

    def prepare(self):
        if not SERVER.exists():
            raise ServiceFailed(f"{SERVER} is missing: run `make setup`")
        for number, text in enumerate(self._rules):
            (self.data / f"rules-{number}.yaml").write_text(text)
        config = {
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
            "rule_files": [f"{self.data}/rules-*.yaml"],
            "scrape_configs": [
                {"job_name": job, "static_configs": [
                    {"targets": [f"127.0.0.1:{port}" for port in ports]}]}
                for job, ports in self._targets.items()],
        }
        (self.data / "prometheus.yml").write_text(json.dumps(config))  # JSON is YAML

    def argv(self):
        return [SERVER, f"--config.file={self.data}/prometheus.yml", f"--storage.tsdb.path={self.data}/data",
                f"--web.listen-address={self.address}", f"--web.console.templates={_CONSOLES}",
                f"--web.console.libraries={_CONSOLES}", "--log.level=warn"]

    def answers(self):
        with urllib.request.urlopen(f"http://{self.address}/-/ready", timeout=5) as answer:
            return answer.status == 200

    # ---- its API -------------------------------------------------------------------------------

    def query(self, expr):
        """The series that the expression comes to now: [(labels, value)]."""
        result = self._ask("query", query=expr)
        if result["resultType"] == "scalar":
            return [({}, float(result["result"][1]))]
        return [(one["metric"], float(one["value"][1])) for one in result["result"]]

    def query_range(self, expr, begin, end, step):
        """The same over a time (seconds since 1970): [(labels, [(when, value)])]."""
        result = self._ask("query_range", query=expr, start=begin, end=end, step=step)
        return [(one["metric"], [(when, float(value)) for when, value in one["values"]])
                for one in result["result"]]

    def rules(self):
        """Every rule of all groups, as its API shows it."""
        return [rule for group in self._ask("rules")["groups"] for rule in group["rules"]]

    def targets(self):
        return self._ask("targets")["activeTargets"]

    def firing(self):
        """Labels of the alerts that fire."""
        return [alert["labels"] for alert in self._ask("alerts")["alerts"] if alert["state"] == "firing"]

    def _ask(self, what, **words):
        url = f"http://{self.address}/api/v1/{what}?{urllib.parse.urlencode(words)}"
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:  # is an OSError: a caller would wait for it to pass
            raise ServiceFailed(f"{what} {words}: {error.read().decode()}") from error
