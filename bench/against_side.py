#!/usr/bin/python3
"""One side of bench/against.py: the rows of the checkout named first, one round at a time, as asked
for line by line on standard input. Every other module is that checkout's own, so that each revision
measures itself with its own harness, services and programs.

Asked `names`, it answers the names of its rows; asked a name, that row's figures of one round. Each
answer is a line of JSON on standard output; what the rows say meanwhile goes to standard error.
"""

import contextlib
import json
import sys
from pathlib import Path

ROOT = Path(sys.argv[1])
sys.path[0] = str(ROOT)  # not this file's folder: its neighbours are another revision's

from bench import population, run  # noqa: E402
from bench.rig import Rig  # noqa: E402

_LONGER = 3  # than in `make bench`: a round of two seconds varies more than what is to be shown


def main():
    quick = "--quick" in sys.argv
    people, sizes, relations = ((population.QUICK, run.QUICK, run.QUICK_RELATIONS) if quick
                                else (population.FULL, run.FULL, run.FULL_RELATIONS))
    answers = sys.stdout
    with contextlib.redirect_stdout(sys.stderr), Rig(people, print) as rig:
        rows = dict(run.measurements(
            rig, sizes._replace(rounds=1, pages=_LONGER * sizes.pages),
            relations._replace(rounds=1, follows=_LONGER * relations.follows)))
        for line in sys.stdin:
            name = line.strip()
            found = list(rows) if name == "names" else list(rows[name]())
            print(json.dumps(found), file=answers, flush=True)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
