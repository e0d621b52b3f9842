"""The rows about relations: follows and rebuilds. No daemon runs meanwhile; the programs of a side
make one round each. Every function yields one row."""

import statistics
from typing import NamedTuple

from bench.measure import interleaved, row
from bench.processes import CpuMeter
from bench.rig import WINDOW


class RelationSizes(NamedTuple):
    rounds: int
    follows: int  # of a round; a whole number of authors (bench/follow.cpp)
    rebuilt: int  # timelines of a round


def follows(rig, sizes, mode):
    """Follows per second as long as a caller waits, beside one upsert for each: the same edges, the
    same threads and connections."""
    rig.no_relations()
    firsts = [rig.edges(sizes.follows) for _ in range(sizes.rounds + 1)]
    pairs = _interleaved(
        rig, sizes,
        lambda number: ("fanline-bench-follow", mode, *_numbers(firsts[number], sizes.follows)),
        lambda number: ("fanline-bench-follow", "upsert", *_numbers(firsts[number],
                                                                    sizes.follows)))
    mine, beside = pairs[-1]
    yield _row(f"follow_{mode}", pairs, "changes", "follows/s", "single autocommit guarded upserts",
               threads=mine["threads"], statement=beside["statement"],
               durability=beside["durability"], late=sum(run["late"] for run, _ in pairs))


def rebuild(rig, sizes, followees):
    """Timelines made live per second, of readers with so many active followees, beside a client that
    knows the answer: the same reads of followees and of when they last posted, the posts by the span
    that holds the window, one ZADD. And how long 99 of 100 of these took at most."""
    rig.no_relations()
    posts = max(10, 4 * WINDOW // followees)
    readers = max(2, sizes.rebuilt * 240 // (followees + 240))
    asked = ("--readers", readers, "--followees", followees, "--posts", posts,
             "--turns", -(-sizes.rebuilt // readers))
    rig.helper("fanline-bench-rebuild", "fill", *asked)
    spent = []

    def rebuilt(_):
        meter = CpuMeter({"mariadb": [shard.pid for shard in rig.stack.mysql]})
        made = rig.helper("fanline-bench-rebuild", "rebuild", *asked)
        spent.append(meter.spent()["mariadb"] / made["rebuilds"] * 1e3)
        return made

    pairs = interleaved(sizes.rounds, rebuilt,
                        lambda _: rig.helper("fanline-bench-rebuild", "known", *asked))
    yield _row(f"rebuild_{followees}", pairs, "rebuilds", "rebuilds/s",
               "a client that knows the answer", followees=followees,
               mariadb_cpu_ms=statistics.median(spent))
    tails = [[run["p99_ms"] for run in side] for side in zip(*pairs)]
    yield row(f"rebuild_p99_{followees}", tails[0], "ms, 99 of 100 rebuilds",
              "a client that knows the answer", tails[1], followees=followees,
              rebuilds_per_round=pairs[-1][0]["rebuilds"])


def _numbers(first, changes):
    return "--first", first, "--changes", changes


def _interleaved(rig, sizes, mine, beside):
    return interleaved(sizes.rounds, lambda number: rig.helper(*mine(number)),
                       lambda number: rig.helper(*beside(number)))


def _row(name, pairs, counted, unit, beside_unit, **extra):
    """A row of what programs printed: {counted: n, "seconds": s}."""
    speeds = [[run[counted] / run["seconds"] for run in side] for side in zip(*pairs)]
    return row(name, speeds[0], unit, beside_unit, speeds[1],
               **{f"{counted}_per_round": pairs[-1][0][counted]}, **extra)
