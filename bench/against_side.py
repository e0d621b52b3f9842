#!/usr/bin/python3
"""One side of bench/against.py: the rows of the checkout named first, one round at a time, as asked
for line by line on standard input. Every other module is that checkout's own, so that each revision
measures itself with its own harness, services and programs. What `make bench` measures beside a row is
of no interest here and is measured in the row's first round alone, so that the two revisions' rounds lie
close together: a machine's speed may change within half a minute.

Asked `names`, it answers the names of its rows; asked a name, that row's figures of one round. Each
answer is a line of JSON on standard output; what the rows say meanwhile goes to standard error.
"""

import contextlib
import json
import sys
from pathlib import Path

ROOT = Path(sys.argv[1])
sys.path[0] = str(ROOT)  # not this file's folder: its neighbours are another revision's

from bench import measure  # noqa: E402


class Alone:
    """Takes the place of measure.interleaved."""

    def __init__(self):
        self.row = None
        self._call = 0  # of the row's round: some rows have several pairs of sides
        self._beside = {}

    def begin(self, row):
        self.row, self._call = row, 0

    def interleaved(self, rounds, mine, beside):
        self._call += 1
        first = (self.row, self._call) not in self._beside
        if first:
            mine(0)  # warms up
            self._beside[self.row, self._call] = beside(1)
        return [(mine(number), self._beside[self.row, self._call]) for number in range(1, rounds + 1)]


alone = Alone()
measure.interleaved = alone.interleaved  # before the rows import it

from bench import run  # noqa: E402
from bench.rig import Rig  # noqa: E402

_LONGER = 3  # than in `make bench`: a round of two seconds varies more than what is to be shown


def forms():
    """By name. 87977647, which figures are asked beside, keeps them apart."""
    if hasattr(run, "FORMS"):
        return run.FORMS
    from bench import population
    return {"quick": (population.QUICK, run.QUICK, run.QUICK_RELATIONS),
            "full": (population.FULL, run.FULL, run.FULL_RELATIONS)}


def main():
    quick = "--quick" in sys.argv
    people, sizes, relations = forms()["quick" if quick else "full"]
    answers = sys.stdout
    with contextlib.redirect_stdout(sys.stderr), Rig(people, print) as rig:
        rows = dict(run.measurements(
            rig, sizes._replace(rounds=1, pages=_LONGER * sizes.pages),
            relations._replace(rounds=1, follows=_LONGER * relations.follows)))
        for line in sys.stdin:
            name = line.strip()
            alone.begin(name)
            found = list(rows) if name == "names" else list(rows[name]())
            print(json.dumps(found), file=answers, flush=True)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
