"""What docs/metrics.md says that each daemon exports, and feedctl audit --watch."""

import re

from tests.e2e.decoding import ROOT

PAGE = (ROOT / "docs" / "metrics.md").read_text()
API = "API"
WATCH = "feedctl audit --watch"
CONSUMING = "Dispatcher", "Pusher", "Mirror", "Reconciler"


def section(title):
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.S | re.M)[1]


def listed(title):
    """Name -> its type and labels, of the table below that title."""
    found = {}
    for names, kind in re.findall(r"^\| (`fanline_[^|]*) \| (\w+) \|", section(title), re.M):
        for name, labels in re.findall(r"`(\w+)(?:\{([\w,]*)\})?`", names):
            assert name not in found, name
            found[name] = kind, frozenset(filter(None, labels.split(",")))
    assert found, title
    return found


def told(daemon):
    """What the page says of that daemon."""
    others = listed("All but the API") if daemon in CONSUMING else {}
    if daemon != WATCH:
        others |= listed("All daemons")
    return {**listed(daemon), **others, **listed("All")}


def told_of_all():
    """The same of all daemons: name -> type and labels of whoever has it."""
    found = {}
    for daemon in (*CONSUMING, API, WATCH):
        for name, (kind, labels) in told(daemon).items():
            found[name] = kind, found.get(name, ("", frozenset()))[1] | labels
    return found
