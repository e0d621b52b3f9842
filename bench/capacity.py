#!/usr/bin/python3
"""Says what an installation of a given size needs, from what `make bench` measured: docs/capacity.md."""

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.capacity_plan import (BUCKETS, Demand, Unusable, audience, how_to_measure,  # noqa: E402
                                 plan_for, power_law, read_constants)
from bench.followers_file import read_degrees  # noqa: E402

REPORT = ROOT / "build" / "bench" / "report.json"
MIB = 1 << 20


def main():
    options = _options(sys.argv[1:])
    try:
        plan, measured = _plan_of(options)
    except Unusable as unusable:
        sys.exit(f"capacity.py: {unusable}")
    print(json.dumps(_as_json(plan, measured)) if options.json else _as_text(plan, measured))


def said_of(words):
    """What --json prints for such a command line. Unusable in one line that says what to do."""
    return _as_json(*_plan_of(_options(words)))


def _plan_of(options):
    demand = Demand(users=options.users, live_ratio=options.live_ratio,
                    live_followers_ratio=(options.live_ratio if options.live_followers_ratio is None
                                          else options.live_followers_ratio),
                    audience=_audience(options), posts_per_s=options.posts_per_s, window=options.window,
                    max_entries=options.timeline_max_entries, load=options.load, cores=options.cores,
                    ranges=options.ranges)
    try:
        rows = json.loads(Path(options.report).read_text(encoding="utf-8"))
        measured = read_constants(rows, options.encoding)
    except OSError as error:
        raise Unusable(f"cannot open {options.report}: {error.strerror}; type {how_to_measure(options.encoding)}, or "
                       "name by --report what that wrote elsewhere") from None
    except (Unusable, ValueError) as bad:
        raise Unusable(f"{options.report}: {bad}") from None
    return plan_for(demand, measured), measured


def _audience(options):
    try:
        degrees = _degrees(options.followers_distribution, options.users)
        return audience(degrees, options.users, options.posts_by == "followers")
    except Unusable as bad:
        raise Unusable(f"--followers-distribution: {bad}") from None


def _degrees(distribution, users):
    """What audience() takes."""
    law, _, numbers = distribution.partition(":")
    try:
        if law == "fixed":
            return [(float(numbers), users)]
        if law == "power-law":
            mean, most = map(float, numbers.split(":"))
            return power_law(users, mean, most)
    except ValueError:
        raise Unusable("is fixed:N, power-law:MEAN:MOST or a file") from None
    return read_degrees(distribution)


def _as_text(plan, measured):
    lines = [("live timelines", _rounded(plan.live_timelines), f"{_rounded(plan.bytes_per_timeline)} bytes each"),
             ("Redis memory", f"{_rounded(plan.redis_bytes / MIB)} MiB",
              f"give each master a maxmemory of {_rounded(plan.maxmemory_bytes / MIB)} MiB, and each replica as much"),
             ("Redis masters", plan.masters, "one core each"),
             ("deliveries", f"{_rounded(plan.deliveries_per_s)}/s",
              f"{_rounded(plan.work.followers)} followers of a post's author, {_rounded(plan.work.live)} of them live"),
             *((f"busy cores: {process}", f"{busy:.2f}", "") for process, busy in sorted(plan.busy.items())),
             ("busy cores", f"{plan.busy_cores:.2f}", "of all processes"),
             ("cores", _rounded(plan.cores),
              f"{100 * plan.busy_cores / plan.cores:.0f}% of them busy, of such a machine: {measured.machine}"),
             ("Kafka partitions", plan.ranges, f"of the tasks topic: feedctl init --ranges {plan.ranges}"),
             ("", plan.feed_partitions,
              f"of the feed topic: feedctl topics create --feed-partitions {plan.feed_partitions}"),
             ("hints", f"{_rounded(plan.hints_per_s)}/s", "written to the tasks topic"),
             *_lag_lines(plan)]
    return "\n".join(f"{name:<24}{figure:<12} {words}".rstrip() for name, figure, words in lines)


def _lag_lines(plan):
    if plan.lag:
        yield "expected lag", _milliseconds(plan.lag.p50), "publish to last delivery, half of posts"
        yield "", _milliseconds(plan.lag.p99), "99 of 100"
    elif plan.busy_cores >= plan.cores:
        yield "expected lag", "grows", "there are fewer cores than are needed: raise --cores"
    else:
        yield ("expected lag", "unknown", f"it was measured up to {100 * plan.measured_load:.0f}% of the cores busy: "
                                          "raise --cores, or lower --load")
    if plan.largest_s is not None:
        yield "", _milliseconds(plan.largest_s), "more for the author with most followers"


def _rounded(value):
    return f"{value:.{2 if value < 1 else 1}f}" if value < 10 else f"{value:,.0f}"


def _milliseconds(seconds):
    return f"{_rounded(seconds * 1e3)} ms"


def _as_json(plan, measured):
    return {"live_timelines": plan.live_timelines, "bytes_per_timeline": plan.bytes_per_timeline,
            "redis_bytes": plan.redis_bytes, "redis_maxmemory_bytes": plan.maxmemory_bytes,
            "redis_masters": plan.masters, "followers_per_post": plan.work.followers,
            "live_followers_per_post": plan.work.live, "deliveries_per_s": plan.deliveries_per_s,
            "hints_per_s": plan.hints_per_s, "busy_cores": plan.busy, "busy_cores_total": plan.busy_cores,
            "cores": plan.cores, "tasks_partitions": plan.ranges, "feed_partitions": plan.feed_partitions,
            "lag_p50_s": plan.lag and plan.lag.p50, "lag_p99_s": plan.lag and plan.lag.p99,
            "largest_author_s": plan.largest_s, "machine": measured.machine}


def _options(words):
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--users", type=float, required=True, help="users of the installation")
    add("--followers-distribution", required=True,
        help="how many followers users have: fixed:N, power-law:MEAN:MOST, or a file with a count or an edge per line, "
             "also gzipped")
    add("--posts-per-s", type=float, required=True, help="posts a second, at the peak")
    add("--live-ratio", type=float, required=True,
        help="share of the users with a live timeline: read within --timeline-ttl")
    add("--live-followers-ratio", type=float,
        help="share of the followers of posting users with one; by default as for all users")
    add("--posts-by", choices=("users", "followers"), default="users",
        help="whether all users post equally often, or in proportion to their followers")
    add("--cores", type=float, default=0, help="cores available; 0: as many as --load requires")
    add("--load", type=float, default=0.5, help="share of the cores that may be busy at the peak")
    add("--ranges", type=int, default=0, help="of the installation; 0: as feedctl init suggests")
    add("--window", type=int, default=450, help="items a live timeline keeps")
    add("--timeline-max-entries", type=int, default=512, help="members it never exceeds")
    add("--encoding", choices=("compact", "skiplist"), default="compact",
        help="of timelines in Redis: skiplist where zset-max-listpack-entries is too small")
    add("--report", default=REPORT, help="what make bench wrote, on such a machine")
    add("--json", action="store_true", help="print the plan as one JSON object")
    options = parser.parse_args(words)
    for wrong, words in ((not 0 < options.load <= 1, "--load: must be above 0 and at most 1"),
                         (not 0 <= options.live_ratio <= 1, "--live-ratio: from 0 to 1"),
                         (options.ranges and (options.ranges < 0 or BUCKETS % options.ranges),
                          "--ranges: a power of 2 up to 1024, or 0"),
                         (options.window + 18 > options.timeline_max_entries,
                          "--timeline-max-entries: must exceed --window by 18")):
        if wrong:
            parser.error(words)
    return options


if __name__ == "__main__":
    main()
