"""The habits of our metrics, judged by what a daemon exports: names in base units, labels and values
that docs/metrics.md lists, a number of series that no user adds to."""

import re
from collections import Counter

from tests.e2e.metrics_page import section

UNITS = ("seconds", "bytes", "total", "info")  # a name ends in at most one of them, and total
NOT_BASE = ("ms", "us", "ns", "millis", "milliseconds", "micros", "microseconds", "minutes", "hours",
            "days", "kb", "mb", "kib", "mib", "percent")
MOST_SERIES = 1_000  # of a daemon, without those of partitions
_PATTERNS = {"number": r"\d+", "topic": r"[a-z][a-z.-]*", "version": r"\d[\w.+-]*",
             "operation": r"[a-z][a-zA-Z]*"}
_SAMPLE = re.compile(r"^(fanline_\w+)(?:\{(.*)\})? (\S+)$", re.M)
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def samples(text):
    """(name, labels, value) of each of ours."""
    return [(name, dict(_LABEL.findall(labels)), float(value))
            for name, labels, value in _SAMPLE.findall(text)]


def families(text):
    return dict(re.findall(r"^# TYPE (fanline_\w+) (\w+)$", text, re.M))


def bad_names(text):
    """Family -> what is wrong with its name."""
    found = {}
    for name, kind in families(text).items():
        words = name.removeprefix("fanline_").split("_")
        units = [word for word in words[:-1] if word in UNITS]
        if kind == "counter" and words[-1] != "total":
            found[name] = "a counter that does not end in _total"
        elif kind != "counter" and words[-1] == "total":
            found[name] = f"a {kind} that ends in _total"
        elif set(words) & set(NOT_BASE):
            found[name] = "not in a base unit"
        elif units and (words[-1] != "total" or words[-2] != units[-1]):
            found[name] = "its unit does not stand at its end"
    return found


def listed_labels():
    """Label -> pattern of its values, of the table of the page."""
    found = {}
    for label, values in re.findall(r"^\| `(\w+)` \| (.*?) \|", section("Labels"), re.M):
        one_of = [_pattern(value) for value in re.findall(r"`([^`]+)`", values)]
        assert one_of, label
        found[label] = re.compile("|".join(one_of))
    assert found
    return found


def _pattern(value):
    """`mysql_<number>` stands for any number."""
    return "".join(_PATTERNS[part[1:-1]] if part.startswith("<") else re.escape(part)
                   for part in re.split(r"(<\w+>)", value))


def unlisted(text, listed):
    """Labels and values of the scrape that the page does not list."""
    found = set()
    for _, labels, _ in samples(text):
        for label, value in labels.items():
            if label == "le":
                continue
            if label not in listed or not listed[label].fullmatch(value):
                found.add(f'{label}="{value}"')
    return sorted(found)


def series(text):
    """How many there are, without those that partitions add."""
    return sum("partition" not in labels for _, labels, _ in samples(text))


def buckets(text):
    """Of each histogram of seconds: bound -> observations in that bucket, all of its series."""
    found = {}
    for name, labels, value in samples(text):
        if name.endswith("_seconds_bucket"):
            found.setdefault(name.removesuffix("_bucket"), Counter())[float(labels["le"])] += value
    apart = {}
    for name, cumulative in found.items():
        below, apart[name] = 0, {}
        for bound, count in sorted(cumulative.items()):
            apart[name][bound] = count - below
            below = count
    return apart
