"""What stands in prometheus/dashboards."""

import json

from prometheus.grafana.build import DASHBOARDS


def panels(dashboard):
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def expressions():
    """(where, expression) of every target of every panel that is checked in."""
    for path in sorted(DASHBOARDS.glob("*.json")):
        for panel in panels(json.loads(path.read_text())):
            for target in panel["targets"]:
                yield f"{path.stem}: {panel['title']}, {target['refId']}", target["expr"]
