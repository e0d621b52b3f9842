"""The rows beside what others do for the same posts (docs/benchmarks.md, "Peers"). Each function yields several."""

import json
import os
import resource
import statistics
import subprocess
from typing import NamedTuple

from bench.backlog_run import run_events
from bench.measure import interleaved, row
from bench.population import FIRST_LIVE
from bench.processes import CpuMeter
from bench.rig import ROOT

_LEAST_POSTS = 10  # with fewer a tiny bench may meet no live follower
_READS = {"tenth": 0.1, "1": 1, "10": 10, "100": 100}  # pages a post


class Peer(NamedTuple):
    label: str
    part: int = 1  # of a round's posts one in so many: the slow ones need no more

    def posts(self, posts):
        return max(_LEAST_POSTS, posts // self.part)


SHAPES = {
    "lpushx": Peer("LPUSHX, LTRIM above 496, pipelined"),
    "exists": Peer("EXISTS, then ZADD, pipelined"),
    "misskey": Peer("Misskey's commands: a pipeline of LPUSH a post"),
    "mastodon": Peer("Mastodon's commands, 25 threads, Redis alone", 10),
    "mastodon-queue": Peer("the same, and its queue", 10),
    "mastodon-sql": Peer("the same, its queue and 13 reads of SQL", 20),
    "ring": Peer("rings of 16 bytes an item in memory"),
}
_PULL = {"pull": Peer("merged at read in memory")}
LIBRARIES = {
    "stream_framework_plus": Peer("stream-framework-plus 1.4.0.3 as it is", 20),
    "stream_framework": Peer("Stream-Framework 1.4.0, `async` renamed", 20),
}


def peers(rig, sizes, share):
    """Beside others' commands on the same Redis, and beside rings and a merge in memory."""
    def ask(name, command, told):
        return rig.helper("fanline-bench-peers", command, *(word for key, value in told.items()
                                                            for word in (f"--{key.replace('_', '-')}", value)))

    pairs = _rounds(rig, sizes, share, SHAPES | _PULL, ask, {"pages": sizes.pages})
    yield from _rows(rig, sizes, share, SHAPES, pairs)
    yield from _pull_rows(sizes.posts[share], share, pairs)


def libraries(rig, sizes, share):
    """Beside Stream-Framework, which is installed if it is not there."""
    def ask(name, command, told):
        run = subprocess.run([ROOT / "build" / "tools" / name / "bin" / "python", "-P", "bench/peer_library.py",
                              "run" if command == name else command, json.dumps(told)], cwd=ROOT, text=True,
                             env={**os.environ, **rig.stack.env}, capture_output=True, timeout=300)
        if run.returncode != 0:
            raise RuntimeError(f"{name} ended with {run.returncode}: {run.stderr.strip()}")
        return json.loads(run.stdout)

    for name in LIBRARIES:
        subprocess.run([ROOT / "stack" / "venv", name, f"bench/{name}.txt"], cwd=ROOT, check=True)
    yield from _rows(rig, sizes, share, LIBRARIES, _rounds(rig, sizes, share, LIBRARIES, ask))


def _rounds(rig, sizes, share, who, ask, more=None):
    """[(our run and what our pages took, {name: what it printed})]"""
    rig.scene("compact")
    authors, posts = rig.population.authors[share], sizes.posts[share]
    told = {"live": rig.population.live, "readers": rig.population.live * 100 // authors.live_percent,
            "per_post": authors.followers, **(more or {})}

    def beside(seed):
        return {name: ask(name, name, {**told, "seed": seed, "posts": peer.posts(posts), "newest": rig.moments(posts)})
                for name, peer in who.items()}

    ask(next(iter(who)), "fill", {**told, "newest": rig.moments(1)})
    return interleaved(sizes.rounds, lambda _: (run_events(rig, authors, posts), _pages(rig, sizes.pages)), beside)


def _pages(rig, pages):
    """Of a first page through the library, one call at a time: seconds, and CPU of Redis and the reader."""
    def reader():
        return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])

    meter, before = CpuMeter({"redis": [rig.stack.redis.pid]}), reader()
    run = rig.helper("fanline-bench-pages", "library", "--first-reader", FIRST_LIVE, "--readers", rig.population.live,
                     "--pages", pages)
    return run["seconds"] / pages, (meter.spent()["redis"] + reader() - before) / pages


def _rows(rig, sizes, share, who, pairs):
    posts = sizes.posts[share]
    due = rig.deliveries_due(rig.population.authors[share], posts)
    for name, peer in who.items():
        runs = [beside[name] for _, beside in pairs]
        ms = [statistics.median(each) * 1e3 for each in ([mine.seconds / posts for (mine, _), _ in pairs],
                                                         [run["seconds"] / peer.posts(posts) for run in runs])]
        yield row(f"peer_{name.replace('-', '_')}_{share}", [due / mine.seconds for (mine, _), _ in pairs],
                  "deliveries/s", peer.label, [run["deliveries"] / run["seconds"] for run in runs],
                  said=f"{ms[0]:.3g} ms a post beside {ms[1]:.3g}")


class Cost(NamedTuple):
    """Seconds, and CPU seconds, of a post and of a page."""
    post: float
    post_cpu: float
    page: float
    page_cpu: float


def _pull_rows(posts, share, pairs):
    """Posts and pages one after the other: a page, and its part of a post."""
    ours = [Cost(run.seconds / posts, sum(run.cpu.values()) / posts, *pages) for (run, pages), _ in pairs]
    pull, ring = ([Cost(*[beside[name]["seconds"] / posts] * 2, beside[name]["page_seconds"] / beside[name]["pages"],
                        beside[name]["page_cpu"] / beside[name]["pages"]) for _, beside in pairs]
                  for name in ("pull", "ring"))
    for name, reads in _READS.items():
        mine, other = ([1 / (each.post / reads + each.page) for each in side] for side in (ours, pull))
        cpu = [statistics.median(each.post_cpu / reads + each.page_cpu for each in side) * 1e6 for side in (ours, pull)]
        yield row(f"peer_pull_{share}_{name}", mine, f"pages/s at {reads} a post", _PULL["pull"].label, other,
                  cpu_us_per_page=cpu[0], beside_cpu_us_per_page=cpu[1],
                  said=f"CPU us a page {cpu[0]:.3g} beside {cpu[1]:.3g}; pushing takes less CPU than merging "
                       f"{_from(ours, pull)}, and pushing in memory {_from(ring, pull)}")


def _from(push, pull):
    """At how many pages a post the one begins to take less CPU than the other."""
    post = statistics.median(each.post_cpu for each in push) - statistics.median(each.post_cpu for each in pull)
    page = statistics.median(each.page_cpu for each in pull) - statistics.median(each.page_cpu for each in push)
    return f"from {post / page:.3g} pages a post on" if page > 0 else "never"
