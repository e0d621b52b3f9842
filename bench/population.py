"""Who lives in the bench: readers, of whom some are live, and blocks of authors by the share of their
followers that is live."""

import random
from collections.abc import Sequence
from typing import NamedTuple

FIRST_LIVE = 1_000_000_000  # ids of ten digits: keys as long as those of a real installation
FIRST_ASLEEP = 2_000_000_000


class Authors(NamedTuple):
    first: int  # id; the others follow
    count: int
    followers: int  # of each, drawn at random
    live_percent: int  # of the readers they are drawn from; 0: the first who are asleep, nobody is drawn


class Population(NamedTuple):
    live: int  # readers with a timeline
    authors: dict  # by name of the block

    def edges(self, seed=1):
        """(follower, author) of everybody, the same in every run."""
        draw = random.Random(seed)
        for block in self.authors.values():
            readers = self._readers(block)
            for author in range(block.first, block.first + block.count):
                for reader in draw.sample(readers, block.followers):
                    yield reader, author

    def is_live(self, reader):
        return FIRST_LIVE <= reader < FIRST_LIVE + self.live

    def _readers(self, block):
        if block.live_percent == 0:
            return range(FIRST_ASLEEP, FIRST_ASLEEP + block.followers)
        asleep = self.live * 100 // block.live_percent - self.live
        return _Both(range(FIRST_LIVE, FIRST_LIVE + self.live),
                     range(FIRST_ASLEEP, FIRST_ASLEEP + asleep))


class _Both(Sequence):
    """Two ranges as one sequence."""

    def __init__(self, first, second):
        self._first, self._second = first, second

    def __len__(self):
        return len(self._first) + len(self._second)

    def __getitem__(self, index):
        head = len(self._first)
        return self._first[index] if index < head else self._second[index - head]


FULL = Population(live=20_000, authors={
    "live100": Authors(first=10_000_000, count=5_000, followers=200, live_percent=100),
    "live20": Authors(first=20_000_000, count=2_000, followers=200, live_percent=20),
    "live5": Authors(first=30_000_000, count=4_000, followers=200, live_percent=5),
    "moderate": Authors(first=35_000_000, count=4_000, followers=70, live_percent=20),
    "celebrity": Authors(first=40_000_000, count=1, followers=1_000_000, live_percent=0),
    "known": Authors(first=50_000_000, count=1, followers=10_000, live_percent=0),
    "few": Authors(first=36_000_000, count=4_000, followers=5, live_percent=20),
    "live5_alone": Authors(first=31_000_000, count=4_000, followers=10, live_percent=100),
    "live5_few": Authors(first=32_000_000, count=4_000, followers=17, live_percent=59),
    "celebrity5_alone": Authors(first=41_000_000, count=1, followers=50_000, live_percent=0),
    "fans": Authors(first=42_000_000, count=1, followers=1_000, live_percent=0),
})

# For bench/check.py --short.
SHORT = Population(live=2_000, authors={
    "live100": Authors(first=10_000_000, count=400, followers=200, live_percent=100),
    "live5": Authors(first=30_000_000, count=400, followers=200, live_percent=5),
    "moderate": Authors(first=35_000_000, count=800, followers=70, live_percent=20),
})

# A glance at whether the bench itself works; its figures mean nothing.
QUICK = Population(live=400, authors={
    "live100": Authors(first=10_000_000, count=100, followers=20, live_percent=100),
    "live20": Authors(first=20_000_000, count=50, followers=20, live_percent=20),
    "live5": Authors(first=30_000_000, count=50, followers=20, live_percent=5),
    "moderate": Authors(first=35_000_000, count=50, followers=10, live_percent=20),
    "celebrity": Authors(first=40_000_000, count=1, followers=5_000, live_percent=0),
    "known": Authors(first=50_000_000, count=1, followers=50, live_percent=0),
    "few": Authors(first=36_000_000, count=50, followers=5, live_percent=20),
    "live5_alone": Authors(first=31_000_000, count=50, followers=1, live_percent=100),
    "live5_few": Authors(first=32_000_000, count=50, followers=17, live_percent=6),
    "celebrity5_alone": Authors(first=41_000_000, count=1, followers=250, live_percent=0),
    "fans": Authors(first=42_000_000, count=1, followers=10, live_percent=0),
})
