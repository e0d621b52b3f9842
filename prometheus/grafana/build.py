#!/usr/bin/python3
"""Writes prometheus/dashboards/*.json: python3 -m prometheus.grafana.build"""

import json
from pathlib import Path

from prometheus.grafana.fanout import FANOUT
from prometheus.grafana.fleet import FLEET
from prometheus.grafana.panels import to_json
from prometheus.grafana.relations import RELATIONS
from prometheus.grafana.stores import STORES
from prometheus.grafana.timelines import TIMELINES

DASHBOARDS = Path(__file__).resolve().parent.parent / "dashboards"
ALL = FLEET, FANOUT, TIMELINES, RELATIONS, STORES


def texts():
    """File name -> what is to stand in it."""
    return {f"{dashboard.uid}.json": json.dumps(to_json(dashboard), indent=1) + "\n" for dashboard in ALL}


if __name__ == "__main__":
    for name, text in texts().items():
        (DASHBOARDS / name).write_text(text)
