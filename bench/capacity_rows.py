"""Whether `bench/capacity.py` is right at another scale than its constants were measured at: three
copies of the Epinions graph, every fifth reader live, beside what it says of them."""

import os
import random
import statistics
from typing import NamedTuple

from bench import report
from bench.capacity import said_of
from bench.measure import row
from bench.moderate_rows import LAST_DELIVERY, few_rounds, run_at
from bench.population import Authors
from bench.rig import LONGEST, ROOT, WINDOW
from demo.graph import read_graph

GRAPH = ROOT / "data" / "epinions" / "soc-Epinions1.txt.gz"
_FIRST = 3_000_000_000  # ids of ten digits that the population does not have
_LIVE_SHARE = 0.2
_RATE = 1 / 4  # of a burst: between the shares at which the constants were measured
_NEEDED = ("timeline_bytes_compact", "event_cost_", "latency_")


class Town(NamedTuple):
    users: int
    live: int  # the first of them
    edges: list  # (follower, followed)
    authors: dict  # "even": drawn from all users; "followed": the more followers, the likelier
    degrees: dict  # by name, of those


def capacity(rig, sizes, rows):
    """Redis memory, busy cores, lag: what was measured, beside `bench/capacity.py` with the rows of
    this run. A ratio within 0.75..1.25 is what it promises, of all but the p99."""
    missing = [name for name in _NEEDED if not any(one["name"].startswith(name) for one in rows)]
    if missing:
        raise ValueError(f"capacity compares with rows of the same run: choose {missing[0].strip('_')} too")
    constants = report.write(list(rows), rig.stack.logs / "measured")
    town = _town(sizes.moderate, sizes.town, sizes.copies)
    rig.import_edges(town.edges)
    shapes = {"even": GRAPH, "followed": rig.stack.logs / "followed.txt"}
    shapes["followed"].write_text("".join(f"{degree}\n" for degree in town.degrees["followed"]))

    def plan(shape, posts_per_s):
        return said_of(map(str, ("--users", town.users, "--live-ratio", town.live / town.users,
                                 "--followers-distribution", shapes[shape], "--posts-per-s", posts_per_s,
                                 "--cores", os.cpu_count(), "--ranges", rig.ranges, "--report", constants)))

    empty = rig.empty_scene(of_each=2)
    rig.wait_idle()  # each edge is a hint, where a pusher has served before
    rig.fill(_FIRST, town.live, WINDOW, LONGEST)
    for name, authors in town.authors.items():
        pairs = [(run, plan(name, run.rate)) for run in _runs(rig, sizes, authors)]
        yield row(f"capacity_cores_{name}", [sum(run.cpu.values()) / run.seconds for run, _ in pairs],
                  "busy cores", "bench/capacity.py", [said["busy_cores_total"] for _, said in pairs],
                  **_facts(pairs))
    yield row("capacity_redis_bytes", [rig.redis_bytes() - empty], "bytes of Redis",
              "bench/capacity.py", [plan("even", 1)["redis_bytes"]], live_timelines=town.live)
    rig.same_scene(dispatcher_args=("--sample-rate", "1"), of_each=2)
    for name, authors in town.authors.items():
        pairs = [(run, plan(name, run.rate)) for run in _runs(rig, sizes, authors)]
        for suffix, share in (("", 0.5), ("_p99", 0.99)):
            key = f"lag_p{share * 100:.0f}_s"
            yield row(f"capacity_lag{suffix}_{name}",
                      [run.samples.histogram(LAST_DELIVERY).quantile(share) * 1e3
                       for run, _ in pairs],
                      f"ms, p{share * 100:.0f}", "bench/capacity.py",
                      [(said[key] or _most(rows, suffix)) * 1e3 for _, said in pairs],
                      **_facts(pairs))


def _most(rows, suffix):
    """Beyond what was measured no lag is named (a tiny bench gets there): the longest that was."""
    return max(one["value"] for one in rows
               if one["name"] in [f"latency_{share}_rate{suffix}"
                                  for share in ("half", "quarter", "tenth")]) / 1e3


def _runs(rig, sizes, authors):
    found = []
    rounds = few_rounds(sizes) | 1  # odd: one round that was disturbed decides nothing
    for number in range(sizes.warm + rounds):
        burst = run_at(rig, authors, authors.count)
        run = run_at(rig, authors, authors.count, burst.rate * _RATE)
        if number >= sizes.warm:
            found.append(run)
    return found


def _facts(pairs):
    return {"events_per_second": statistics.median(run.rate for run, _ in pairs),
            "followers_per_post": pairs[0][1]["followers_per_post"],
            "live_per_post": pairs[0][1]["live_followers_per_post"]}


def _town(posting, most, copies):
    """Ids in a random order, so that any few in a row are a fair draw; then of those who are not
    live as many authors as are needed, drawn by their followers."""
    draw = random.Random(1)
    graph = read_graph(GRAPH, 1)
    users = graph.users[:most]
    people = [(copy, user) for copy in range(copies) for user in users]
    draw.shuffle(people)
    live = round(len(people) * _LIVE_SHARE)
    degree = {user: len(graph.followers.get(user, ())) for user in graph.users}
    behind = live + posting
    likely = sorted((person for person in people[behind:] if degree[person[1]]), reverse=True,
                    key=lambda person: draw.random() ** (1 / degree[person[1]]))[:posting]
    chosen = set(likely)
    people = [*people[:behind], *likely, *(one for one in people[behind:] if one not in chosen)]
    number = {person: _FIRST + place for place, person in enumerate(people)}
    known = set(users)
    edges = [(number[copy, reader], number[copy, author]) for copy in range(copies)
             for author in users for reader in graph.followers.get(author, ()) if reader in known]
    authors = {"even": Authors(_FIRST + live, posting, 0, 20),
               "followed": Authors(_FIRST + behind, posting, 0, 20)}
    return Town(len(people), live, edges, authors,
                {"followed": [degree[user] for _, user in likely]})
