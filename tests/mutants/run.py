#!/usr/bin/python3
"""Builds and tests mutants of the production code: make mutants [SEED=n] [DRAWN=60] [ONLY=text].

A mutant is killed when a test fails on it; one that does not build or does not answer in time is
not. Ends with 1 when one by hand is not killed or a drawn one survives without an answer
(tests/mutants/answers.py). Writes build/mutants/report.json and, with --page, docs/mutants.md.
"""

import argparse
import contextlib
import json
import queue
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from stack.local_stack import LocalStack  # noqa: E402
from tests.mutants import page  # noqa: E402
from tests.mutants.answers import ANSWERS  # noqa: E402
from tests.mutants.by_hand import BY_HAND  # noqa: E402
from tests.mutants.mutant import TESTS, tests_for  # noqa: E402
from tests.mutants.operators import drawn  # noqa: E402
from tests.mutants.workbench import Workbench  # noqa: E402

SEED = 8  # of the table in docs/mutants.md


def main():
    options = parse()
    begin = time.monotonic()
    mutants = [(mutant, "by hand") for mutant in BY_HAND]
    mutants += [(mutant, f"seed {options.seed}")
                for mutant in drawn(ROOT, options.seed, options.drawn)]
    mutants = [(mutant, origin) for mutant, origin in mutants
               if not options.only or options.only in f"{mutant.name} {mutant.file}"]
    print(f"{len(mutants)} mutants; drawn by seed {options.seed}", flush=True)

    rows = []
    with contextlib.ExitStack() as stacks:
        services = [{}] * options.jobs
        if any(TESTS[test].services for mutant, _ in mutants for test in tests_for(mutant)):
            services = [stacks.enter_context(LocalStack()).env for _ in services]
        for mutant, origin, outcome in judged(mutants, services):
            answer = ANSWERS.get((mutant.file, mutant.find, mutant.replace), "")
            rows.append({**mutant._asdict(), "origin": origin, **outcome._asdict(),
                         "answer": answer})
            print(f"[{time.monotonic() - begin:5.0f} s] {len(rows)}/{len(mutants)} "
                  f"{outcome.result:10} {mutant.name}" + (f": {outcome.by}" if outcome.by else ""),
                  flush=True)
    rows.sort(key=lambda row: (row["origin"] != "by hand", row["name"]))

    folder = ROOT / "build" / "mutants"
    (folder / "report.json").write_text(json.dumps(rows, indent=1) + "\n")
    if options.page:
        (ROOT / "docs" / "mutants.md").write_text(page.written(rows))
    bad = [row for row in rows if not settled(row)]
    killed = sum(row["result"] == "killed" for row in rows)
    print(f"{killed} of {len(rows)} killed, {len(rows) - killed - len(bad)} answered, "
          f"{len(bad)} open")
    for row in bad:
        print(f"open: {row['result']}: {row['name']}\n- {row['find']}\n+ {row['replace']}")
    return 1 if bad else 0


def settled(row):
    """A drawn one that does not build is no mutant; one by hand has to."""
    if row["origin"] == "by hand":
        return row["result"] == "killed"
    return row["result"] in ("killed", "does not build") or bool(row["answer"])


def judged(mutants, services):
    """(mutant, origin, outcome) as they come, from workbenches beside each other, one for each
    stack's environment."""
    waiting, done = queue.SimpleQueue(), queue.SimpleQueue()
    for entry in mutants:
        waiting.put(entry)

    def work(number):
        try:
            bench = Workbench(ROOT, ROOT / "build" / "mutants" / f"tree{number}", services[number])
            bench.prepare([mutant for mutant, _ in mutants])
            while True:
                mutant, origin = waiting.get_nowait()
                done.put((mutant, origin, bench.judge(mutant)))
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
    parser.add_argument("--jobs", type=int, default=2, help="workbenches, default: 2")
    parser.add_argument("--page", action="store_true", help="write docs/mutants.md")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
