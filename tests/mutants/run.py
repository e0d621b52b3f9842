#!/usr/bin/python3
"""Builds and tests mutants of the production code: make mutants [SEED=n] [DRAWN=60] [ONLY=text]
[RESUME=1].

A mutant is killed when a test fails on it; one that does not build or does not answer in time is
not. A test that fails without a mutant, as when its services died, ends the run: RESUME=1 goes on
from there. Ends with 1 when one by hand is not killed or a drawn one survives without an answer
(tests/mutants/answers.py). What came of each stands in build/mutants/report.json.
"""

import argparse
import contextlib
import queue
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from stack.local_stack import LocalStack  # noqa: E402
from tests.mutants.answers import ANSWERS  # noqa: E402
from tests.mutants.by_hand import BY_HAND  # noqa: E402
from tests.mutants.mutant import STACKS, TESTS, tests_for  # noqa: E402
from tests.mutants.operators import drawn  # noqa: E402
from tests.mutants.report import Report  # noqa: E402
from tests.mutants.workbench import Workbench  # noqa: E402

SEED = 8


def main():
    options = parse()
    begin = time.monotonic()
    by_hand = [] if options.drawn_only else chosen(options, BY_HAND)
    order = [] if options.by_hand else chosen(options, drawn(ROOT, options.seed))
    if not by_hand and not order:
        print(f"no mutant's name or file holds {options.only!r}", file=sys.stderr)
        return 64
    report = Report(ROOT, [*BY_HAND, *order])
    known = {}
    if options.resume:
        known = {mutant: outcome for mutant in [*by_hand, *order]
                 if (outcome := report.known(mutant))}
    order = [mutant for mutant in order
             if mutant not in known or known[mutant].result != "does not build"]
    origins = {mutant: "by hand" for mutant in by_hand}
    origins |= {mutant: f"seed {options.seed}" for mutant in order[:options.drawn]}
    spare = iter(order[options.drawn:])
    outcomes = {mutant: known[mutant] for mutant in origins
                if mutant in known and known[mutant].killed}
    left = [mutant for mutant in origins if mutant not in outcomes]
    print(f"{len(origins)} mutants, {len(left)} to judge; drawn by seed {options.seed}", flush=True)

    with contextlib.ExitStack() as stacks:
        services = [{}] * min(options.jobs, len(left))
        wanted = {TESTS[test].services for mutant in left for test in tests_for(mutant)} - {""}
        services = [{kind: stacks.enter_context(LocalStack(**STACKS[kind])).env
                     for kind in sorted(wanted)} for _ in services]
        for mutant, outcome in judged(left, spare, services):
            origin = origins.setdefault(mutant, f"seed {options.seed}")
            report.add(mutant, outcome)
            if outcome.result == "does not build" and origin != "by hand":
                del origins[mutant]
            else:
                outcomes[mutant] = outcome
            print(f"[{time.monotonic() - begin:5.0f} s] {len(outcomes)}/{len(origins)} "
                  f"{outcome.result:10} {mutant.name}" + (f": {outcome.by}" if outcome.by else ""),
                  flush=True)
    rows = [{**mutant._asdict(), "origin": origin, **outcomes[mutant]._asdict(),
             "answer": ANSWERS.get((mutant.file, mutant.find, mutant.replace), "")}
            for mutant, origin in origins.items()]
    rows.sort(key=lambda row: (row["origin"] != "by hand", row["name"]))

    bad = [row for row in rows if not settled(row)]
    killed = sum(row["result"] == "killed" for row in rows)
    print(f"{killed} of {len(rows)} killed, {len(rows) - killed - len(bad)} answered, "
          f"{len(bad)} open")
    for row in bad:
        print(f"open: {row['result']}: {row['name']}\n- {row['find']}\n+ {row['replace']}")
    return 1 if bad else 0


def chosen(options, mutants):
    return [mutant for mutant in mutants
            if not options.only or options.only in f"{mutant.name} {mutant.file}"]


def settled(row):
    if row["origin"] == "by hand":
        return row["result"] == "killed"
    return row["result"] == "killed" or bool(row["answer"])


def judged(mutants, spare, services):
    """(mutant, outcome) as they come, from workbenches beside each other, one for each of the
    stacks' environments. A drawn one that does not build is no mutant: the next of `spare` takes its
    place."""
    waiting, done = queue.SimpleQueue(), queue.SimpleQueue()
    for mutant in mutants:
        waiting.put(mutant)

    def work(number):
        try:
            bench = Workbench(ROOT, ROOT / "build" / "mutants" / f"tree{number}", services[number])
            bench.prepare(mutants)
            while True:
                mutant = waiting.get_nowait()
                outcome = bench.judge(mutant)
                if outcome.result == "does not build" and mutant not in BY_HAND \
                        and (another := next(spare, None)):
                    waiting.put(another)
                done.put((mutant, outcome))
        except queue.Empty:
            done.put(None)
        except BaseException as error:  # pylint: disable=broad-except
            done.put(error)

    for number in range(len(services)):
        threading.Thread(target=work, args=(number,), daemon=True).start()
    ended = 0
    while ended < len(services):
        entry = done.get()
        if isinstance(entry, BaseException):
            raise entry
        if entry is None:
            ended += 1
        else:
            yield entry


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--drawn", type=int, default=60, metavar="N", help="default: 60")
    parser.add_argument("--only", metavar="TEXT", help="whose name or file holds this")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--by-hand", action="store_true", help="none that is drawn")
    which.add_argument("--drawn-only", action="store_true", help="none by hand")
    parser.add_argument("--resume", action="store_true",
                        help="take what is known of earlier runs where the file is what it was")
    parser.add_argument("--jobs", type=int, default=2, help="workbenches, default: 2")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
