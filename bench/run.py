#!/usr/bin/python3
"""Measures Fanline on this machine, each figure beside another of the same run (`make bench`).

Writes build/bench/report.json row by row, and prints a table at the end; docs/benchmarks.md explains
the rows. With --rows the others stay in the report as they are. A row that fails is named, the rest
goes on, and the exit status is 1. Leave the machine alone meanwhile: services and clients share its
cores.
"""

import argparse
import os
import sys
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import population, report  # noqa: E402
from bench.audience_rows import celebrity, dead_cost_ratio, memory, run_cold, takeover  # noqa: E402
from bench.backlog_run import run_hints  # noqa: E402
from bench.capacity_rows import capacity  # noqa: E402
from bench.cluster_rows import cluster_vs_single  # noqa: E402
from bench.drain_rows import backlog_drain  # noqa: E402
from bench.edge_rows import FULL_EDGES, QUICK_EDGES, edge_latency  # noqa: E402
from bench.fairness_rows import fairness  # noqa: E402
from bench.handover_rows import handover  # noqa: E402
from bench.import_rows import import_rows  # noqa: E402
from bench.mode_rows import edge_modes  # noqa: E402
from bench.moderate_rows import cpu_per_event, event_cost, latency  # noqa: E402
from bench.page_rows import (hybrid_page, page_below_floor, page_below_floor_reposts,  # noqa: E402
                             page_http, page_library, page_p99_under_fanout, page_reposts)
from bench.peer_rows import libraries, peers  # noqa: E402
from bench.recovery_rows import recovery  # noqa: E402
from bench.redis_rows import parts_of_a_delivery  # noqa: E402
from bench.relation_rows import RelationSizes, follows, rebuild  # noqa: E402
from bench.rig import Rig  # noqa: E402
from bench.rows import (Sizes, cpu_of_pushers, deliveries, dispatch_cost_ratio,  # noqa: E402
                        long_run, timeline_bytes)
from bench.scale_rows import FOLLOWERS, LIVE, scale_followers, scale_live  # noqa: E402
from bench.scan_rows import FULL_SCANS, QUICK_SCANS, full_scan, full_scan_cost, log_scan  # noqa: E402
from bench.storm_rows import storm  # noqa: E402
from bench.sweep_rows import sweep_p99  # noqa: E402
from stack.programs.fleet import PARTITIONS  # noqa: E402

FULL = Sizes(rounds=7, posts={"live100": 1_000, "live20": 2_000, "live5": 4_000},
             many_posts=5_000, dispatched=20_000, moderate=4_000, imported=508_837,
             waiting=64_000, restarted=4, pages=20_000, reposters=100_000, returning=10_000,
             old_posts=20, storms=3, town=1_000_000, copies=3, warm=1, star_posts=10, taken_over=100_000,
             edges=FULL_EDGES, scans=FULL_SCANS)
FULL_RELATIONS = RelationSizes(rounds=5, follows=20_000, rebuilt=100)
SHORT = FULL._replace(posts={"live100": 800, "live5": 4_000}, pages=6_000)
SHORT_RELATIONS = FULL_RELATIONS._replace(follows=10_000)
QUICK = Sizes(rounds=2, posts={"live100": 100, "live20": 50, "live5": 50}, many_posts=200,
              dispatched=3_000, moderate=50, imported=10_000, waiting=200,
              restarted=1, pages=400, reposters=1_000, returning=100, old_posts=5, storms=1,
              town=4_000, copies=1, warm=0, star_posts=2, taken_over=1_000, edges=QUICK_EDGES,
              scans=QUICK_SCANS)
QUICK_RELATIONS = RelationSizes(rounds=2, follows=400, rebuilt=5)
FORMS = {"full": (population.FULL, FULL, FULL_RELATIONS), "short": (population.SHORT, SHORT, SHORT_RELATIONS),
         "quick": (population.QUICK, QUICK, QUICK_RELATIONS)}


def measurements(rig, sizes, relations, rows=()):
    """Name -> what measures that row, in the order that prepares the least between them. `rows`:
    those measured so far."""
    one_post = ("--items-per-zadd", "1")
    for encoding in ("compact", "skiplist"):
        yield f"timeline_bytes_{encoding}", lambda e=encoding: timeline_bytes(rig, e)
        for share in ("live100", "live20", "live5"):
            yield (f"deliveries_{share}_{encoding}",
                   lambda s=share, e=encoding: deliveries(rig, sizes, s, e))
        if encoding == "compact":
            for share in ("live20", "live5"):
                yield (f"deliveries_{share}_compact_cold",
                       lambda s=share: deliveries(rig, sizes, s, "compact", "cold", run=run_cold))
            yield "dead_cost_ratio", lambda: dead_cost_ratio(rig, sizes)
            yield "last_fifth_of_a_million", lambda: long_run(rig, sizes)  # and rss_*
            yield ("deliveries_live100_compact_hints_only",
                   lambda: deliveries(rig, sizes, "live100", "compact", "hints_only",
                                      run=run_hints))
            yield ("deliveries_live100_compact_one_post",
                   lambda: deliveries(rig, sizes, "live100", "compact", "one_post", one_post))
            yield "redis_us", lambda: parts_of_a_delivery(rig, sizes)
            yield "page_library", lambda: page_library(rig, sizes)
            yield "page_http", lambda: page_http(rig, sizes)
            yield "page_p99_under_fanout", lambda: page_p99_under_fanout(rig, sizes)
            yield "hybrid_page", lambda: hybrid_page(rig, sizes)
            yield "page_reposts", lambda: page_reposts(rig, sizes)  # and page2_reposts, page_folded
            yield "cluster_vs_single", lambda: cluster_vs_single(rig, sizes)
            yield "backlog_drain", lambda: backlog_drain(rig, sizes)
            yield "full_scan_cost", lambda: full_scan_cost(rig, sizes)
            yield "celebrity_live5", lambda: celebrity(rig, sizes)
            yield "rss_pusher_full_mb", lambda: memory(rig, sizes)
            yield "takeover_live100k", lambda: takeover(rig, sizes)
            for share in ("live100", "live5"):  # last: what the others wrote goes with this Redis' contents
                yield f"peer_{share}", lambda s=share: peers(rig, sizes, s)
                yield f"peer_library_{share}", lambda s=share: libraries(rig, sizes, s)
    yield "dispatch_cost_ratio", lambda: dispatch_cost_ratio(rig, sizes)
    yield "cpu_per_event", lambda: cpu_per_event(rig, sizes)
    yield "event_cost", lambda: event_cost(rig, sizes)
    yield "latency", lambda: latency(rig, sizes)
    yield "scale_pushers", lambda: cpu_of_pushers(rig, sizes)
    yield "fairness_p99_ratio", lambda: fairness(rig, sizes)
    yield "sweep_p99_ratio", lambda: sweep_p99(rig, sizes)
    yield "capacity", lambda: capacity(rig, sizes, rows)
    yield "storm", lambda: storm(rig, sizes)
    for mode in ("async", "sync"):
        yield f"follow_{mode}", lambda m=mode: follows(rig, relations, m)
    for followees in (10, 200, 2_000):
        yield f"rebuild_{followees}", lambda n=followees: rebuild(rig, relations, n)
    yield "page_below_floor", lambda: page_below_floor(rig, sizes)
    yield "page_below_floor_reposts", lambda: page_below_floor_reposts(rig, sizes)
    yield "edge_latency", lambda: edge_latency(max(1, sizes.rounds // 2), sizes.edges, rig.say)
    yield "edge_modes", lambda: edge_modes(max(1, sizes.rounds // 2), sizes.edges, rig.say)
    yield "full_scan", lambda: full_scan(max(1, sizes.rounds // 2), sizes.scans, rig.say)
    yield "log_scan", lambda: log_scan(max(1, sizes.rounds // 2), sizes.scans, rig.say)
    yield "recovery", lambda: recovery(sizes.rounds, rig.say)
    yield "handover_gap", lambda: handover(sizes.rounds, sizes.restarted, rig.say)
    yield "import_rows", lambda: import_rows(sizes.rounds, sizes.imported, rig.say)


def of_scale(rig, sizes):
    """The same of what `make bench-full` measures besides."""
    for live in LIVE:
        yield f"scale_live_{live}", lambda n=live: scale_live(n, sizes, rig.say)
    for followers in FOLLOWERS:
        yield f"scale_followers_{followers}", lambda n=followers: scale_followers(n, sizes, rig.say)


def main():
    options = parse()
    begin = time.monotonic()

    def say(line):
        print(f"[{time.monotonic() - begin:5.0f} s] {line}", flush=True)

    people, sizes, relations = FORMS[options.form]
    if options.rounds:
        sizes, relations = (each._replace(rounds=options.rounds) for each in (sizes, relations))
    folder = options.out or ROOT / "build" / ("bench" if options.form == "full" else f"bench-{options.form}")
    before = report.read(folder) if options.rows else []
    rows, failed = [], []
    with Rig(people, say, options.ranges) as rig:
        machine = report.machine(rig.in_memory)
        say(machine)
        known = dict(measurements(rig, sizes, relations, rows))
        large = dict(of_scale(rig, sizes))
        wanted = options.rows or [*known, *(large if options.scale else ())]
        for name, measure in chosen({**known, **large}, wanted):
            try:
                rig.settle()
                for row in measure():
                    rows.append({**row, "of": name, "machine": machine, "cores": os.cpu_count(),
                                 "ranges": options.ranges, "measured_at": report.now()})
                    report.write(report.merged(before, rows), folder)
                    say(report.sentence(row))
                    if report.details(row):
                        say(f"    {report.details(row)}")
            except Exception as error:  # whatever it is, the other rows can do without this one
                failed.append(name)
                say(f"{name} failed: {error!r}")
                traceback.print_exc()
                abandon(rig, say)
    print("", *report.table(rows), "", f"{folder / report.REPORT_NAME}, after {time.monotonic() - begin:.0f} s",
          *(f"failed: {name}" for name in failed), sep="\n")
    return 1 if failed else 0


def abandon(rig, say):
    """What a failed row left behind may make this fail, too; then the next row tells."""
    try:
        rig.abandon()
    except Exception as error:
        say(f"cleaning up failed: {error!r}")
        traceback.print_exc()


def chosen(by_name, wanted):
    unknown = [name for name in wanted if name not in by_name]
    if unknown:
        raise SystemExit(f"there is no row {unknown[0]}; there are {', '.join(by_name)}")
    return [(name, measure) for name, measure in by_name.items() if name in wanted]


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=lambda text: text.split(","), metavar="NAME,...",
                        help="only these; the report keeps the others")
    parser.add_argument("--quick", dest="form", action="store_const", const="quick", default="full",
                        help="tiny: shows that the bench works, measures nothing")
    parser.add_argument("--short", dest="form", action="store_const", const="short",
                        help="a small installation, for the rows of bench/check.py --short alone")
    parser.add_argument("--scale", action="store_true",
                        help="scale_live_* and scale_followers_* too, up to ten million followers: half an hour, and 16 GB")
    parser.add_argument("--rounds", type=int, metavar="N", help="of each row (default: that row's)")
    parser.add_argument("--ranges", type=int, default=PARTITIONS, metavar="P",
                        choices=[1, 2, 4, 8, 16, 32],
                        help="of the installation (default: %(default)s); below 64, since rows count "
                             "on a hint for every range of authors with 70 followers")
    parser.add_argument("--out", type=Path, metavar="FOLDER",
                        help="where report.json goes (default: build/bench, or build/bench-quick, -short)")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
