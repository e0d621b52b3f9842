#!/usr/bin/python3
"""make chaos [SEEDS=n] [FIRST=n] [SEED=n] [EVENTS=n] [PLAN=file]: whole runs, one after the other."""

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


def main(arguments=None):
    options = _options(arguments)
    seeds = [options.seed] if options.seed is not None else range(
        options.first, options.first + options.seeds)
    results = [one(plan.draw(seed, options.events, round(options.events * CHANGES_PER_EVENT)))
               for seed in seeds] if not options.plan else [one(options.plan)]
    print("\n".join(["", *report.table(results)]))
    failed = [result.seed for result in results if result.wrong]
    print(f"{len(results) - len(failed)} of {len(results)} runs ok"
          + "".join("; again: make chaos "
                    + (f"PLAN={_kept(options.plan)}" if options.plan
                       else f"SEED={seed} EVENTS={options.events}") for seed in failed))
    return 1 if failed else 0


def one(planned):
    KEPT.mkdir(parents=True, exist_ok=True)
    kept = _kept(planned)
    kept.write_text(planned.to_json())
    say("\n".join(["", *planned.lines(), f"kept in {kept}"]))
    result = run(planned, say)
    for wrong in result.wrong:
        say(f"WRONG: {wrong}")
    say(report.line(result))
    return result


def _kept(planned):
    return KEPT / f"{planned.seed}-{planned.events}.json"


def say(line):
    print(line, flush=True)


def _options(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=_from_one_on, default=1, help="so many runs")
    parser.add_argument("--first", type=int, default=1, help="the seed of the first of them")
    parser.add_argument("--seed", type=int, help="one run, of this seed")
    parser.add_argument("--events", type=_from_one_on, default=EVENTS)
    parser.add_argument("--plan", type=_plan, help="one run, of a plan that was kept")
    return parser.parse_args(arguments)


# No run is no success.
def _from_one_on(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no number from 1 on")
    return int(text)


def _plan(path):
    try:
        return plan.Plan.of_json(Path(path).read_text())
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise argparse.ArgumentTypeError(f"{path} is no plan that was kept: {error}") from None


if __name__ == "__main__":
    sys.exit(main())
