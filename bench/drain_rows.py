"""A million hints that waited: whether the pusher works them off as fast as those that come as they
are worked on, and whether its memory depends on how many wait."""

import statistics

from bench.backlog_run import HELD, run_hints
from bench.measure import row
from bench.rows import reached

_RAMP = 0.1  # of a run's deliveries, at its begin and at its end: not steady


def backlog_drain(rig, sizes):
    """Hints per second of the whole drain, beside the steady rate: between the ramps of rounds of a
    few hints, before and after. The authors have 70 followers of whom 14 are live."""
    rig.scene("compact", HELD)
    rig.fleet.wait_idle(120)
    authors = rig.population.authors["moderate"]
    few = min(sizes.moderate, authors.count)
    run_hints(rig, authors, few)  # warms up
    steady = [_steady(rig, authors, few) for _ in range(_half(sizes))]
    drain = run_hints(rig, authors, sizes.waiting, watch_memory=True)
    steady += [_steady(rig, authors, few) for _ in range(_half(sizes))]
    hints = sizes.waiting * rig.ranges
    held = [_held(drain, share) for share in (0, 0.5, 1)]
    more = {"rss_mb": held, "rss_most_mb": max(moment.rss["pusher"] for moment in drain.moments),
            "steady_rounds": sorted(steady)}
    yield row("backlog_drain", [hints / drain.seconds], f"hints/s, {hints:,} that waited",
              "the steady rate", [statistics.median(steady)], **more)
    yield row("backlog_drain_rss_mb", [held[2]], "MB of the pusher at the end",
              "in the middle", [held[1]], **more)


def _half(sizes):
    return max(1, sizes.rounds // 2)


def _steady(rig, authors, posts):
    run = run_hints(rig, authors, posts)
    first, last = (reached(run.moments, run.deliveries * share) for share in (_RAMP, 1 - _RAMP))
    return posts * rig.ranges * (1 - 2 * _RAMP) / (last - first)


def _held(run, share):
    """The pusher's memory in MB when that share of the deliveries was made."""
    return next(moment.rss["pusher"] for moment in run.moments
                if moment.deliveries >= run.deliveries * share)
