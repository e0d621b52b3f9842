"""What an installation of a given size needs, computed from the rows of build/bench/report.json. Pure.

Processor time of a process is a line: a base cost, plus a cost for each event, for each follower looked at and for each
delivery. It is fitted to runs at steady rates with authors of several sizes. Batches grow with the load
(docs/decisions/0018-batches-that-grow-with-load.md), so an event's cost falls as the load grows, and the line holds
only between the measured rates. Cores are those of the measured machine. The plan does not extrapolate: fewer ranges
than measured do not count as cheaper, and above the highest measured load it names no lag."""

import itertools
import math
from dataclasses import dataclass, field
from typing import NamedTuple

LEAST_FEED_PARTITIONS = 8
ROOM_ABOVE = 1.25  # for fragmentation, replica buffers, rewrites
# An empty Redis with its connections takes some MiB, and maxmemory 0 means no limit.
LEAST_MAXMEMORY = 64 << 20
BUCKETS = 1024
MOST_ADDS = 16  # kMaxAddsPerWrite in fanline/ports/live_timelines.h
LEAST_RANGES, RANGES_PER_MASTER, LIVE_READERS_PER_RANGE = 16, 8, 250_000


class Unusable(Exception):
    """The report, or the distribution of followers; in one line."""


# ---- costs ----

class Work(NamedTuple):
    events_per_s: float
    hints: float  # of an event: ranges that hold a follower of its author
    followers: float  # an event's author's, on average, live or not
    live: float  # of them, those with a live timeline

    def factors(self):
        rate = self.events_per_s
        return 1, rate, rate * self.hints, rate * self.followers, rate * self.live


class Cost(NamedTuple):
    idle: float = 0  # cores
    event: float = 0  # core seconds, like the next three
    hint: float = 0
    follower: float = 0  # looked at
    delivery: float = 0  # to a live timeline

    def cores(self, work):
        return sum(part * factor for part, factor in zip(self, work.factors(), strict=True))


def fit_cost(runs):
    """Least squares of the relative differences; no part is below zero. `runs`: (Work, busy cores). None: the runs do
    not determine the parts (fewer than five, or all of one size or one rate)."""
    most = max((cores for _, cores in runs), default=0)
    if not most:
        return Cost() if runs else None
    # Each run divided by its cores, but by at least a hundredth of the highest.
    sizes = [max(cores, most / 100) for _, cores in runs]
    lines = [([factor / size for factor in work.factors()], cores / size)
             for (work, cores), size in zip(runs, sizes, strict=True)]
    parts = range(len(Cost._fields))
    if _fit_with(parts, lines) is None:
        return None
    # With five parts, every set of parts that are not zero can be tried.
    found = [fitted for size in range(1, len(parts) + 1) for some in itertools.combinations(parts, size)
             if (fitted := _fit_with(some, lines)) is not None and min(fitted) >= 0]
    best = min(found, key=lambda fitted: _miss(fitted, lines), default=None)
    return best and Cost(*best)


def _fit_with(some, lines):
    """Only with these parts; the others are 0. None: there is no unique solution."""
    # Parts differ much in size, so columns are scaled.
    scales = [math.sqrt(sum(factors[part] ** 2 for factors, _ in lines)) or 1 for part in some]
    scaled = [([factors[part] / scale for part, scale in zip(some, scales, strict=True)], cores)
              for factors, cores in lines]
    rows = [[sum(own[row] * own[column] for own, _ in scaled) for column in range(len(some))] +
            [sum(own[row] * cores for own, cores in scaled)] for row in range(len(some))]
    solved = _solve(rows)
    if solved is None:
        return None
    fitted = [0.0] * len(Cost._fields)
    for part, scale, value in zip(some, scales, solved, strict=True):
        fitted[part] = value / scale
    return fitted


def _solve(rows):
    """Gauss-Jordan with pivoting."""
    for column in range(len(rows)):
        best = max(range(column, len(rows)), key=lambda row: abs(rows[row][column]))
        if abs(rows[best][column]) < 1e-9:
            return None
        rows[column], rows[best] = rows[best], rows[column]
        for row in range(len(rows)):
            if row != column:
                factor = rows[row][column] / rows[column][column]
                rows[row] = [own - factor * other for own, other in zip(rows[row], rows[column], strict=True)]
    return [rows[row][-1] / rows[row][row] for row in range(len(rows))]


def _miss(fitted, lines):
    return sum((sum(part * factor for part, factor in zip(fitted, factors, strict=True)) - cores) ** 2
               for factors, cores in lines)


# ---- the report ----

class Lag(NamedTuple):
    """Publish to last delivery, in seconds."""
    p50: float
    p99: float


@dataclass
class Constants:
    """The measurements, all from one machine."""
    machine: str
    cores: float  # the machine's
    ranges: int  # of the measured installation
    timeline_bytes: float  # in Redis, for a live timeline ...
    timeline_items: float  # ... with this many items
    costs: dict = field(default_factory=dict)  # process -> Cost
    lags: list = field(default_factory=list)  # (Work, Lag)


def how_to_measure(encoding):
    return f"make bench, or bench/run.py --rows timeline_bytes_{encoding},event_cost,latency"


def read_constants(rows, encoding):
    """`rows`: of the report. Unusable says which are missing, and what to type."""
    again = f"; type {how_to_measure(encoding)}"
    try:
        costs = [row for row in rows if row["name"].startswith("event_cost_")]
        others = {row["name"]: row for row in rows if not row["name"].startswith("event_cost_")}
        bytes_row = f"timeline_bytes_{encoding}"
        lacks = ([] if bytes_row in others else [bytes_row]) + ([] if costs else ["event_cost_*"])
        if lacks:
            raise Unusable(f"it lacks the rows {', '.join(lacks)}{again}")
        first, size = costs[0], others[bytes_row]
        for row in [*costs, *(row for name, row in others.items() if name.startswith("latency_"))]:
            if _place(row) != _place(first):
                raise Unusable(f"its row {row['name']} is of another machine or number of ranges than "
                               f"{first['name']}{again}")
        constants = Constants(first["machine"], first["cores"], first["ranges"], size["value"], size["items"])
        constants.costs = _costs(costs)
        constants.lags = [(_work(others[name]), Lag(others[name]["value"] / 1e3, others[f"{name}_p99"]["value"] / 1e3))
                          for name in (f"latency_{share}_rate" for share in ("half", "quarter", "tenth"))
                          if name in others and f"{name}_p99" in others]
    except (KeyError, TypeError, AttributeError) as bad:
        raise Unusable(f"it is not a report of make bench, or an older one ({bad!r}){again}") from None
    if min(constants.timeline_bytes, constants.timeline_items, constants.cores, constants.ranges) <= 0:
        raise Unusable("one of its figures is not above 0")
    return constants


def _place(row):
    """Costs and lags are combined, so their rows must come from one machine and one number of ranges. Bytes are the
    same everywhere. What stands behind the comma is of the run."""
    return row["machine"].split(",")[0], row["cores"], row["ranges"]


def _work(row):
    return Work(row["events_per_second"], hints(row["ranges"], row["followers"]), row["followers"], row["live"])


def _costs(rows):
    found = {}
    for process in sorted({process for row in rows for process in row["cpu_us_per_event"]}):
        runs = [(_work(row), row["cpu_us_per_event"][process] * 1e-6 * row["events_per_second"]) for row in rows
                if process in row["cpu_us_per_event"]]
        found[process] = fit_cost(runs)
        if found[process] is None:
            raise Unusable(f"its rows event_cost_* do not tell on what {process} spends its time")
    return found


# ---- followers ----

class Audience(NamedTuple):
    mean_of_posts: float  # followers of a post's author
    most: float  # of one user


def audience(degrees, users, by_followers=False):
    """`degrees`: (followers, how many users have as many) of all that are named. `by_followers`: posts are in
    proportion to their authors' followers; else all users post equally often."""
    named = total = squares = most = 0
    for followers, count in degrees:
        named += count
        total += followers * count
        squares += followers * followers * count
        most = max(most, followers)
    if most >= users:
        raise Unusable(f"somebody has {most:,.0f} followers, which --users {users:,.0f} cannot be")
    return Audience((squares / total if total else 0) if by_followers else total / named, most)


def power_law(users, mean, most):
    """The user of rank k has most * k^-s followers; s follows from the mean."""
    if mean < 1 or mean > most or most >= users or most / users > mean:
        raise Unusable("no power law of that many users has this mean and maximum: 1 <= MEAN <= MOST < --users")
    ranks = list(_ranks(users))
    flat, steep = 0.0, 20.0  # means from `most` down to most / users
    for _ in range(60):
        slope = (flat + steep) / 2
        if sum(count * rank ** -slope for rank, count in ranks) * most / users > mean:
            flat = slope
        else:
            steep = slope
    return [(most * rank ** -steep, count) for rank, count in ranks]


def _ranks(users):
    """(rank that stands for a group of ranks, its size): the first 10,000 one by one, later ones in growing groups."""
    rank = 1
    while rank <= users:
        behind = rank + 1 if rank < 10_000 else min(math.ceil(rank * 1.001), users + 1)
        yield (rank + behind - 1) / 2, behind - rank
        rank = behind


# ---- the plan ----

@dataclass
class Demand:
    users: float
    live_ratio: float  # share of users with a live timeline
    live_followers_ratio: float  # the same share of an author's followers
    audience: Audience
    posts_per_s: float
    window: int = 450
    max_entries: int = 512
    load: float = 0.5  # largest share of the cores to be busy
    cores: float = 0  # available; 0: as many as `load` requires
    ranges: int = 0  # 0: as suggested


@dataclass
class Plan:
    live_timelines: float
    bytes_per_timeline: float
    redis_bytes: float  # of all timelines
    maxmemory_bytes: float  # for each master, with room above its share
    work: Work
    deliveries_per_s: float
    hints_per_s: float
    busy: dict  # process -> cores
    busy_cores: float
    cores: float
    masters: int  # of Redis; each needs a core of its own
    ranges: int  # partitions of the tasks topic
    feed_partitions: int
    lag: Lag | None  # none: the load is above the measured ones
    measured_load: float  # the highest measured load with a lag
    # How much longer a post of the author with most followers takes: all its work on the idle cores. None: no core is
    # idle.
    largest_s: float | None


def suggested_ranges(masters, live_readers):
    """By the rule of docs/feedctl.md (init)."""
    needed = max(LEAST_RANGES, RANGES_PER_MASTER * masters, math.ceil(live_readers / LIVE_READERS_PER_RANGE))
    return 1 << (min(needed, BUCKETS) - 1).bit_length()


def plan_for(demand, measured):
    followers = demand.audience.mean_of_posts
    work = Work(demand.posts_per_s, 0, followers, followers * demand.live_followers_ratio)
    live_timelines = demand.users * demand.live_ratio
    # A timeline grows from the window to the size at which it is trimmed; this is the middle.
    trimmed_at = max(demand.window, demand.max_entries - MOST_ADDS - 2)
    bytes_each = measured.timeline_bytes * (demand.window + trimmed_at) / 2 / measured.timeline_items
    masters, ranges = _masters_and_ranges(demand, measured, work, live_timelines)
    work = at_ranges(work, ranges)
    costs = measured.costs
    busy = {process: cost.cores(work) for process, cost in costs.items()}
    busy_cores = sum(busy.values())
    cores = demand.cores or max(1, math.ceil(busy_cores / demand.load))
    of_one = sum(cost.follower + demand.live_followers_ratio * cost.delivery for cost in costs.values())
    by_load = sorted((sum(cost.cores(run) for cost in measured.costs.values()) / measured.cores, lag)
                     for run, lag in measured.lags)
    return Plan(
        live_timelines=live_timelines, bytes_per_timeline=bytes_each, redis_bytes=live_timelines * bytes_each,
        maxmemory_bytes=max(live_timelines * bytes_each / masters * ROOM_ABOVE, LEAST_MAXMEMORY), work=work,
        deliveries_per_s=work.events_per_s * work.live, hints_per_s=work.events_per_s * work.hints, busy=busy,
        busy_cores=busy_cores, cores=cores, masters=masters, ranges=ranges,
        feed_partitions=max(LEAST_FEED_PARTITIONS, math.ceil(2 * busy.get("dispatcher", 0) / demand.load)),
        lag=_lag_at(busy_cores / cores, by_load), measured_load=by_load[-1][0] if by_load else 0,
        largest_s=demand.audience.most * of_one / (cores - busy_cores) if cores > busy_cores else None)


def hints(ranges, followers):
    """Ranges that hold one of the followers. All get a hint if there are more followers than ranges."""
    return ranges if followers > ranges else ranges * (1 - (1 - 1 / ranges) ** followers)


def at_ranges(work, ranges):
    return work._replace(hints=hints(ranges, work.followers))


def _masters_and_ranges(demand, measured, work, live_timelines):
    """Redis' work determines the masters, which may need more ranges, which make events more expensive for Redis. Both
    only grow, and there are at most BUCKETS ranges, so this ends."""
    needed = 1
    while True:
        masters = needed
        ranges = demand.ranges or suggested_ranges(masters, live_timelines)
        busy = measured.costs.get("redis", Cost()).cores(at_ranges(work, ranges))
        needed = max(1, math.ceil(busy / demand.load))
        if needed <= masters:
            return masters, ranges


def _lag_at(load, by_load):
    """Between two measured loads in proportion; below all of them it is the lowest one's."""
    for (low, low_lag), (high, high_lag) in zip([by_load[0], *by_load] if by_load else [], by_load):
        if load <= high:
            share = (load - low) / (high - low) if high > low else 0
            return Lag(*(a + share * (b - a) for a, b in zip(low_lag, high_lag, strict=True)))
    return None
