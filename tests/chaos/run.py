#!/usr/bin/python3
"""make chaos [SEEDS=n] [FIRST=n] [SEED=n] [EVENTS=n]: whole runs, one after the other."""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from stack.workspace import BUILD
from tests.chaos import plan, report
from tests.chaos.run_one import run

EVENTS = 20_000
CHANGES_PER_EVENT = 0.5
KEPT = BUILD / "chaos"  # the plans


def main():
    options = _options()
    seeds = [options.seed] if options.seed is not None else range(
        options.first, options.first + options.seeds)
    results = [one(plan.draw(seed, options.events, round(options.events * CHANGES_PER_EVENT)))
               for seed in seeds] if not options.plan else [
                   one(plan.Plan.of_json(Path(options.plan).read_text()))]
    print("\n".join(["", *report.table(results)]))
    failed = [result.seed for result in results if result.wrong]
    print(f"{len(results) - len(failed)} of {len(results)} runs ok"
          + "".join(f"; again: make chaos SEED={seed} EVENTS={options.events}" for seed in failed))
    return 1 if failed else 0


def one(planned):
    KEPT.mkdir(parents=True, exist_ok=True)
    kept = KEPT / f"{planned.seed}-{planned.events}.json"
    kept.write_text(planned.to_json())
    say("\n".join(["", *planned.lines(), f"kept in {kept}"]))
    result = run(planned, say)
    for wrong in result.wrong:
        say(f"WRONG: {wrong}")
    say(report.line(result))
    return result


def say(line):
    print(line, flush=True)


def _options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1, help="so many runs")
    parser.add_argument("--first", type=int, default=1, help="the seed of the first of them")
    parser.add_argument("--seed", type=int, help="one run, of this seed")
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--plan", help="one run, of a plan that was kept")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
