"""Dashboards as a few words each: rows of panels, and the JSON that Grafana reads (schema 39, Grafana
10 and later). Every query reads `$datasource` and one installation or all: `$namespace`."""

from typing import NamedTuple

WIDTH, HEIGHT = 24, 8
SCHEMA = 39
HERE = 'namespace=~"$namespace"'

# Units, as Grafana calls them.
SECONDS, PER_SECOND, COUNT, RATIO, BYTES = "s", "ops", "short", "percentunit", "bytes"


class Query(NamedTuple):
    expr: str
    legend: str  # of Grafana's templates: "{{job}}"


class Panel(NamedTuple):
    title: str
    unit: str
    description: str
    queries: tuple
    kind: str = "timeseries"
    width: int = 8
    log: bool = False  # a logarithmic axis
    bad_above: float = None  # a number of a "stat": red above


class Dashboard(NamedTuple):
    uid: str
    title: str
    description: str
    rows: tuple  # (title, panels)


# ---- expressions that come often; `more`: further matchers --------------------------------------


def series(metric, more=""):
    return f"{metric}{{{HERE}{', ' + more if more else ''}}}"


def rate(metric, by="", more=""):
    """Increments a second, by those labels."""
    grouped = f" by ({by})" if by else ""
    return f"sum{grouped} (rate({series(metric, more)}[$__rate_interval]))"


def total(metric, by="", more=""):
    grouped = f" by ({by})" if by else ""
    return f"sum{grouped} ({series(metric, more)})"


def highest(metric, by="", more=""):
    grouped = f" by ({by})" if by else ""
    return f"max{grouped} ({series(metric, more)})"


def quantile(which, histogram, by="", more=""):
    labels = f"{by}, le" if by else "le"
    return (f"histogram_quantile({which}, sum by ({labels}) "
            f"(rate({series(histogram + '_bucket', more)}[$__rate_interval])))")


def mean(histogram, more=""):
    return (f"sum (rate({series(histogram + '_sum', more)}[$__rate_interval])) "
            f"/ sum (rate({series(histogram + '_count', more)}[$__rate_interval]))")


def halves(histogram, by="", more=""):
    """Its median and 99th percentile, as queries."""
    name = f"{{{{{by}}}}} " if by else ""
    return (Query(quantile(0.5, histogram, by, more), f"{name}p50"),
            Query(quantile(0.99, histogram, by, more), f"{name}p99"))


# ---- JSON ----------------------------------------------------------------------------------------

_SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def to_json(dashboard):
    panels, top, number = [], 0, 1
    for title, members in dashboard.rows:
        panels.append({"type": "row", "id": number, "title": title, "collapsed": False, "panels": [],
                       "gridPos": {"h": 1, "w": WIDTH, "x": 0, "y": top}})
        top, left, number = top + 1, 0, number + 1
        for panel in members:
            if left + panel.width > WIDTH:
                top, left = top + HEIGHT, 0
            panels.append(_panel(panel, number, left, top))
            left, number = left + panel.width, number + 1
        top += HEIGHT
    return {
        "uid": dashboard.uid, "title": dashboard.title, "description": dashboard.description,
        "tags": ["fanline"], "schemaVersion": SCHEMA, "version": 1, "editable": True,
        "graphTooltip": 1, "refresh": "30s", "time": {"from": "now-3h", "to": "now"},
        "timezone": "browser", "annotations": {"list": [_FIRING]},
        "links": [{"type": "dashboards", "title": "Fanline", "tags": ["fanline"], "asDropdown": True,
                   "includeVars": True, "keepTime": True}],
        "templating": {"list": [_DATASOURCE, _NAMESPACE]}, "panels": panels,
    }


def _panel(panel, number, left, top):
    defaults = {"unit": panel.unit, "min": 0}
    options = {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
               "tooltip": {"mode": "multi", "sort": "desc"}}
    if panel.kind == "timeseries":
        defaults["custom"] = {"lineWidth": 1, "fillOpacity": 10, "showPoints": "never",
                              "scaleDistribution": {"type": "log", "log": 10} if panel.log
                              else {"type": "linear"}}
    else:
        steps = [{"color": "green", "value": None}]
        if panel.bad_above is not None:
            steps.append({"color": "red", "value": panel.bad_above})
        defaults["thresholds"] = {"mode": "absolute", "steps": steps}
        options = {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
                   "colorMode": "value", "graphMode": "area"}
    return {
        "type": panel.kind, "id": number, "title": panel.title, "description": panel.description,
        "datasource": _SOURCE, "gridPos": {"h": HEIGHT, "w": panel.width, "x": left, "y": top},
        "fieldConfig": {"defaults": defaults, "overrides": []}, "options": options,
        "targets": [{"refId": chr(ord("A") + nth), "datasource": _SOURCE, "expr": query.expr,
                     "legendFormat": query.legend, "range": True}
                    for nth, query in enumerate(panel.queries)],
    }


_DATASOURCE = {"name": "datasource", "label": "Prometheus", "type": "datasource",
               "query": "prometheus", "current": {}, "hide": 0, "refresh": 1, "regex": ""}
_NAMESPACE = {"name": "namespace", "label": "Installation", "type": "query", "datasource": _SOURCE,
              "query": "label_values(fanline_build_info, namespace)", "refresh": 2, "sort": 1,
              "includeAll": True, "allValue": ".*", "multi": True,
              "current": {"text": "All", "value": "$__all"}}
_FIRING = {"name": "Alerts", "datasource": _SOURCE, "enable": True, "iconColor": "red",
           "expr": 'ALERTS{alertname=~"Fanline.+", alertstate="firing", severity="page", '
                   f"{HERE}}}", "titleFormat": "{{alertname}}"}
