"""One measured run of the pipeline: events wait in Kafka, both daemons are up, idle and own their
partitions; then the one that was held back is let go, and the clock runs until the last write is
acknowledged by Redis (the pusher has counted every hint as done).

A pusher that is held back for longer than its session must be given HELD."""

import re
import time
from collections import Counter
from typing import NamedTuple

from bench.patience import Patience
from bench.processes import rss_mb

# A look costs the pusher about a millisecond: few of them, and dense only near the end.
_LOOK_EVERY = 0.05
_LOOK_NEAR_END = 0.004
_ATTEMPTS = 3

# Of pushers that stand still for as long as it takes to fill the log, and stay in their group.
HELD = ("--kafka-properties", "session.timeout.ms=600000,max.poll.interval.ms=600000")

_DONE = re.compile(r'^fanline_hints_done_total\{kind="post"\} (\S+)', re.M)
_DELIVERIES = re.compile(r'^fanline_deliveries_total\{result="(\w+)"\} (\S+)', re.M)
_TAKEOVERS = re.compile(r"^fanline_takeovers_total\{.*\} (\S+)", re.M)
_PAGES = re.compile(r'^fanline_follower_pages_total\{source="(\w+)"\} (\S+)', re.M)
_BATCHES = re.compile(r"^fanline_batch_(timelines|items)_(sum|count) (\S+)", re.M)


class Look(NamedTuple):
    """The pusher's counters, and when they were read."""

    at: float
    hints_done: float
    deliveries: Counter  # by result
    batches: Counter
    pages: Counter  # of followers, by where they were found
    takeovers: float

    @staticmethod
    def at_pusher(pusher):
        begin = time.perf_counter()
        text = pusher.get("/metrics", timeout=10)[1]
        at = (begin + time.perf_counter()) / 2
        return Look(at, float(_DONE.search(text)[1]),
                    Counter({result: float(value) for result, value in _DELIVERIES.findall(text)}),
                    Counter({f"{what}_{kind}": float(value)
                             for what, kind, value in _BATCHES.findall(text)}),
                    Counter({source: float(value) for source, value in _PAGES.findall(text)}),
                    sum(map(float, _TAKEOVERS.findall(text))))


class Moment(NamedTuple):
    """Of one run: seconds since the clock started, deliveries so far, memory of the daemons."""

    seconds: float
    deliveries: float
    rss: dict  # by daemon, MB; empty unless asked for


class Run(NamedTuple):
    seconds: float
    deliveries: int  # posts that came into live timelines
    posts_per_zadd: float
    timelines_per_batch: float
    listed: float  # of pages of followers, the share that came from the pusher's own lists
    cpu: Counter  # CPU seconds by process
    moments: list


class WrongResult(Exception):
    """A run that did not deliver what it had to: its time means nothing."""


class Disturbed(Exception):
    """The pusher lost its connection and started over: on a machine so busy that Redis does not
    answer within its timeout."""


def run_events(rig, authors, posts, watch_memory=False):
    """Whole pipeline: events wait in the feed topic, the dispatcher is let go."""
    return _run(rig, authors, posts, rig.dispatcher, lambda: rig.publish(authors, posts),
                watch_memory)


def run_hints(rig, authors, posts, watch_memory=False):
    """Second half: the dispatcher has done its part, hints wait in the tasks topic, the pusher is
    let go."""
    return _run(rig, authors, posts, rig.pusher, lambda: fill_with_hints(rig, authors, posts),
                watch_memory)


def fill_with_hints(rig, authors, posts):
    """Returns when all hints of these posts are in the tasks topic."""
    before = rig.dispatched()
    rig.publish(authors, posts)
    rig.wait_dispatched(before + posts)


def _run(rig, authors, posts, held_back, fill, watch_memory):
    for _ in range(_ATTEMPTS - 1):
        try:
            return _attempt(rig, authors, posts, held_back, fill, watch_memory)
        except Disturbed as reason:
            rig.say(f"once more: {reason}")
            rig.wait_idle()
    return _attempt(rig, authors, posts, held_back, fill, watch_memory)


def _attempt(rig, authors, posts, held_back, fill, watch_memory):
    before = Look.at_pusher(rig.pusher)
    held_back.pause()
    try:
        fill()
        meter = rig.cpu_meter()
        begin = time.perf_counter()
    finally:
        held_back.resume()
    moments = []
    end = watch(rig.pusher, begin, before, posts * rig.ranges, moments,
                lambda: _rss(rig) if watch_memory else {})
    return summed_up(before, end, end.at - begin, meter.spent(), moments,
                     rig.deliveries_due(authors, posts))


def watch(pusher, begin, before, hints, moments, rss=dict):
    """Looks until the pusher has done so many hints more than `before`; the last look. It is taken anew:
    while a page of metrics is written the pusher goes on, so counters of one look may be some writes apart."""
    patience = Patience("hints to be done", print)
    while True:
        look = Look.at_pusher(pusher)
        done = look.hints_done - before.hints_done
        moments.append(Moment(look.at - begin, look.deliveries["added"] - before.deliveries["added"],
                              rss()))
        if done >= hints:
            return Look.at_pusher(pusher)._replace(at=look.at)
        patience.look(f"{done:,.0f} of {hints:,}")
        left = (look.at - begin) * (hints - done) / max(done, 1)  # at the pace so far
        time.sleep(max(_LOOK_NEAR_END, min(_LOOK_EVERY, left / 2)))


def _rss(rig):
    return {name: rss_mb(daemon.process.pid)
            for name, daemon in (("dispatcher", rig.dispatcher), ("pusher", rig.pusher))}


def summed_up(before, end, seconds, cpu, moments, due):
    if end.takeovers != before.takeovers:
        raise Disturbed("ranges were taken over on the way")
    added = end.deliveries["added"] - before.deliveries["added"]
    if added != due:
        raise WrongResult(f"{added:.0f} deliveries where {due} were due: {end.deliveries}")
    batches = Counter({name: end.batches[name] - before.batches[name] for name in end.batches})
    pages = Counter({source: end.pages[source] - before.pages[source] for source in end.pages})
    return Run(seconds=seconds, deliveries=due,
               posts_per_zadd=batches["items_sum"] / batches["timelines_sum"],
               timelines_per_batch=batches["timelines_sum"] / batches["timelines_count"],
               listed=pages["list"] / pages.total(), cpu=cpu, moments=moments)
