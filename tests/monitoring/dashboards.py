"""What stands in prometheus/dashboards."""

import json

from prometheus.grafana.build import DASHBOARDS


RATE_INTERVAL = "10s"  # stands for $__rate_interval


def asked(expr):
    """As Grafana puts its variables in."""
    return expr.replace("$__rate_interval", RATE_INTERVAL).replace("$namespace", ".*")


def panels(dashboard):
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def expressions():
    """(where, expression) of every target of every panel that is checked in."""
    for path in sorted(DASHBOARDS.glob("*.json")):
        for panel in panels(json.loads(path.read_text())):
            for target in panel["targets"]:
                yield f"{path.stem}: {panel['title']}, {target['refId']}", target["expr"]
