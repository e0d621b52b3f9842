"""The rules of prometheus/rules, and promtool's word on them."""

import re
import subprocess
from typing import NamedTuple

import yaml

from stack.workspace import BUILD
from tests.e2e.decoding import ROOT
from tests.e2e.metrics_page import told_of_all

RULES = ROOT / "prometheus" / "rules"
TESTS = ROOT / "prometheus" / "tests"
PROMTOOL = BUILD / "tools" / "promtool"  # by stack/setup

# What is written in an expression: metrics are the words that are no function, keyword or label.
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'')
_BRACES = re.compile(r"\{([^{}]*)\}")
_GROUPING = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^()]*)\)")
_WORD = re.compile(r"(?<![\w:.])[a-zA-Z_:][\w:]*(?!\s*\()(?![\w:])")
_KEYWORDS = {"and", "or", "unless", "bool", "offset", "by", "without", "on", "ignoring",
             "group_left", "group_right", "inf", "nan"}
_AGGREGATIONS = {"sum", "max", "min", "avg", "count", "topk", "bottomk", "quantile", "stddev"}


class Rule(NamedTuple):
    file: str  # "delivery"
    name: str
    is_alert: bool
    expr: str
    lasts: str  # its `for`; empty: fires at once
    labels: dict
    annotations: dict

    @property
    def key(self):
        """Tells rules of one name apart."""
        return self.name, tuple(sorted(self.labels.items()))


def all_rules():
    found = []
    for path in sorted(RULES.glob("*.yaml")):
        for group in yaml.safe_load(path.read_text())["groups"]:
            for rule in group["rules"]:
                found.append(Rule(path.stem, rule.get("alert") or rule["record"], "alert" in rule,
                                  rule["expr"], rule.get("for", ""), rule.get("labels", {}),
                                  rule.get("annotations", {})))
    return found


def alerts():
    return [rule for rule in all_rules() if rule.is_alert]


def metrics_of(expr):
    """Names of series that an expression reads; of `{__name__=~"..."}` the pattern."""
    found = set(re.findall(r'__name__=~"([^"]*)"', expr))
    bare = re.sub(r"\[[^\]]*\]", "", _BRACES.sub("", _STRING.sub('""', expr)))
    bare = _GROUPING.sub("", bare)
    return found | {word for word in _WORD.findall(bare)
                    if word.lower() not in _KEYWORDS | _AGGREGATIONS}


def labels_of(expr):
    """Names of labels that an expression selects, groups or matches by."""
    found = set()
    for braces in _BRACES.findall(_STRING.sub('""', expr)):
        found |= set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", braces))
    for names in _GROUPING.findall(expr):
        found |= {name.strip() for name in names.split(",") if name.strip()}
    return found - {"__name__"}


def known_series():
    """Name -> labels, of what daemons export, Prometheus adds and rules record."""
    found = {"up": set(), "ALERTS": {"alertname", "alertstate", "severity", "window"}}
    for name in ("start_time_seconds", "open_fds", "max_fds", "resident_memory_bytes",
                 "cpu_seconds_total"):
        found[f"process_{name}"] = set()
    for name, (kind, labels) in told_of_all().items():
        parts = ("_bucket", "_sum", "_count") if kind == "histogram" else ("",)
        found |= {name + part: set(labels) for part in parts}
    for rule in all_rules():
        if not rule.is_alert:  # its name begins with its labels
            found[rule.name] = set(rule.name.split(":")[0].split("_"))
    return found


def problems(expr):
    """What an expression asks for that nobody has."""
    known, labels, wrong = known_series(), {"namespace", "job", "instance", "le"}, []
    for pattern in metrics_of(expr):
        names = [name for name in known if re.fullmatch(pattern, name)]
        wrong += [] if names else [f"no metric {pattern}"]
        labels.update(*(known[name] for name in names))
    return wrong + [f"no label {label}" for label in sorted(labels_of(expr) - labels)]


def selectors_of(expr):
    """The series that an expression reads, each as a query of its own, without a time."""
    found = set(re.findall(r'\{__name__=~"[^"]*"[^{}]*\}', expr))
    rest = _GROUPING.sub("", re.sub(r"\[[^\]]*\]", "", expr))
    for name in metrics_of(expr):
        pattern = rf"(?<![\w:]){re.escape(name)}(?![\w:])(\{{[^{{}}]*\}})?"
        found |= {name + (match[1] or "") for match in re.finditer(pattern, rest)
                  if '"' + name not in rest}
    return sorted(found)


_UNITS = {"m": "minute", "h": "hour", "d": "day"}


def _in_words(lasts):
    """A pattern of how people say 1h, 15m, 3d."""
    number, unit = lasts[:-1], _UNITS[lasts[-1]]
    return rf"\b{number} {unit}s\b" if number != "1" else rf"\b(1|an?|last) {unit}\b"


def facts(rule):
    """Patterns of what people who are called want to know of an alert: how long it waits, over which times it looks, and above
    which numbers it fires."""
    found = [_in_words(rule.lasts) if rule.lasts else r"\bat once\b"]
    found += [_in_words(time) for time in re.findall(r"\[(\w+)\]|:(?:ratio_rate|p99_)(\w+)", rule.expr) for time in time if time]
    for first, second in re.findall(r" > ([\d.]+)(?: \* ([\d.]+))?", rule.expr):
        number = float(first) * float(second or 1)
        forms = [f"{number:g}", f"{number * 100:g} %"] + [_in_words("1h")] * (number == 3600)
        found += [r"(?<![\d.])(" + "|".join(forms) + r")(?![\d.]*\d)"] if number else []
    return found


def alternatives(expr):
    """What stands between the `or`s of an expression that are in no bracket."""
    found, depth = [""], 0
    for part in re.split(r"(\bor\b|[()])", expr):
        depth += {"(": 1, ")": -1}.get(part, 0)
        if part == "or" and depth == 0:
            found.append("")
        else:
            found[-1] += part
    return [each.strip() for each in found]


def promtool(*words, cwd=ROOT):
    """Its exit code and all it said."""
    run = subprocess.run([PROMTOOL, *words], cwd=cwd, capture_output=True, text=True, timeout=600)
    return run.returncode, run.stdout + run.stderr
