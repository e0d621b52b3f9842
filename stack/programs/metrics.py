"""Prometheus text, read; counters and histograms added and subtracted."""

import math
import re
from collections import Counter
from typing import NamedTuple

_SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_CUMULATIVE = ("_total", "_bucket", "_count", "_sum")


class Samples:
    """Values by name and labels. What a sample of that name does not carry counts as 0."""

    def __init__(self, values=()):
        self._values = Counter(dict(values))

    @staticmethod
    def parse(text):
        values = {}
        for line in text.splitlines():
            if found := _SAMPLE.match(line):
                name, labels, value = found.groups()
                values[name, tuple(sorted(_LABEL.findall(labels or "")))] = float(value)
        return Samples(values)

    def total(self, name, /, **labels):
        """The sum over all samples of that name that have these labels."""
        wanted = labels.items()
        return sum(value for (this, has), value in self._values.items()
                   if this == name and wanted <= dict(has).items())

    def histogram(self, name, /, **labels):
        wanted, counts = labels.items(), Counter()
        for (this, has), value in self._values.items():
            if this == f"{name}_bucket" and wanted <= dict(has).items():
                counts[float(dict(has)["le"])] += value
        return Histogram.of_cumulative(sorted(counts.items()))

    def cumulative(self):
        """Without what goes up and down: all that may be kept of a process that is gone."""
        return Samples({key: value for key, value in self._values.items()
                        if key[0].endswith(_CUMULATIVE)})

    def __add__(self, other):
        both = Counter(self._values)
        both.update(other._values)
        return Samples(both)

    def __sub__(self, other):
        left = Counter(self._values)
        left.subtract(other._values)
        return Samples(left)


class Histogram(NamedTuple):
    bounds: tuple  # upper, ascending; the last is infinite
    counts: tuple  # observations in each bucket

    @staticmethod
    def of_cumulative(steps):
        counts, below = [], 0
        for _, count in steps:
            counts.append(count - below)
            below = count
        return Histogram(tuple(bound for bound, _ in steps), tuple(counts))

    @property
    def total(self):
        return sum(self.counts)

    def quantile(self, share):
        """Interpolated within its bucket, as if the observations lay evenly in it; None when there
        are none, infinite when it is above the last finite bound."""
        if not self.total:
            return None
        rank, lower = share * self.total, 0.0
        for bound, count in zip(self.bounds, self.counts):
            if count and rank <= count:
                return bound if math.isinf(bound) else lower + (bound - lower) * rank / count
            rank -= count
            lower = bound
        return lower
