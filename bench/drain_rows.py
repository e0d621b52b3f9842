"""A million hints that waited: whether the pusher works them off as fast as those that come as they
are worked on, and whether its memory depends on how many wait."""

import statistics

from bench.backlog_run import HELD, run_hints
from bench.measure import row
from bench.rows import reached

_RAMP = 0.1  # of a run's deliveries, at its begin and at its end: not steady
_SIDE_ROUNDS = 3  # of the other side, before the drain and as many after it


def backlog_drain(rig, sizes):
    """Hints per second of the whole drain, beside the steady rate: between the ramps of rounds of a
    few hints, before and after. The authors have 70 followers of whom 14 are live."""
    rig.scene("compact", HELD)
    rig.wait_idle()
    authors = rig.population.authors["moderate"]
    few = min(sizes.moderate, authors.count)
    run_hints(rig, authors, few)  # warms up
    rounds = [run_hints(rig, authors, few) for _ in range(_side_rounds(sizes))]
    drain = run_hints(rig, authors, sizes.waiting, watch_memory=True)
    rounds += [run_hints(rig, authors, few) for _ in range(_side_rounds(sizes))]
    hints = sizes.waiting * rig.ranges
    steady = [_rate(run, few * rig.ranges, _RAMP, 1 - _RAMP) for run in rounds]
    held = [_held(drain, share) for share in (0, 0.5, 1)]
    yield row("backlog_drain", [hints / drain.seconds], f"hints/s, {hints:,} that waited",
              "the steady rate", [statistics.median(steady)],
              fifths=[_rate(drain, hints, fifth / 5, (fifth + 1) / 5) for fifth in range(5)],
              steady_rounds=steady, cpu_us_per_hint=_cpu_us([drain], hints),
              beside_cpu_us_per_hint=_cpu_us(rounds, few * rig.ranges))
    yield row("backlog_drain_rss_mb", [held[2]], "MB of the pusher at the end", "in the middle",
              [held[1]], rss_mb=held,
              rss_most_mb=max(moment.rss["pusher"] for moment in drain.moments))


def _side_rounds(sizes):
    return min(_SIDE_ROUNDS, sizes.rounds)


def _rate(run, hints, begin, end):
    """Hints per second between two shares of the run's deliveries."""
    first, last = (reached(run.moments, run.deliveries * share) for share in (begin, end))
    return hints * (end - begin) / (last - first)


def _cpu_us(runs, hints):
    total = sum((run.cpu for run in runs), start=type(runs[0].cpu)())
    return {name: spent * 1e6 / (hints * len(runs)) for name, spent in sorted(total.items())}


def _held(run, share):
    """The pusher's memory in MB when that share of the deliveries was made."""
    return next(moment.rss["pusher"] for moment in run.moments
                if moment.deliveries >= run.deliveries * share)
