"""Whether a celebrity's pages let others pass: posts of authors with 200 live followers at half of the
rate at which these drain, beside fan-outs to all followers of the celebrity."""

import statistics
import time
from contextlib import contextmanager

from bench.measure import row
from bench.moderate_rows import LAST_DELIVERY, run_at
from bench.patience import wait_done

_LONGEST = 8  # seconds of posts
_SETTLE = 2  # seconds of fan-out before others publish
_FAN_OUTS = 1_000  # more than are ever needed
_MOST_ROUNDS = 5
_DELIVERIES = "fanline_deliveries_total"
_PAGES = "fanline_follower_pages_total"
_NO_LISTS = ("--follower-lists", "0")
_CLASSES = ("lt_100", "lt_1k", "lt_10k", "lt_100k", "lt_1m", "ge_1m")  # fanline/model/size_class.h


def fairness(rig, sizes):
    """Two rows for each share of the celebrity's followers that is live, by timelines of one item: the
    others' publish to last delivery beside the same without her, and how many deliveries a second she
    gets beside the same without them. Default settings, one pusher, one node. All lists of followers are
    known, but for the rows `unlisted`, where none is kept."""
    sampled = ("--sample-rate", "1")
    rig.scene("compact", dispatcher_args=sampled)
    others, star = (rig.population.authors[name] for name in ("live100", "celebrity"))
    assert size_class(others.followers) != size_class(star.followers)
    try:
        for percent, suffix, lists in ((5, "_unlisted", _NO_LISTS), (5, "", ()), (100, "", ())):
            rig.wake(star.followers * percent // 100)
            rig.same_scene(sampled, of_each=1, pusher_args=lists)
            rate = [run_at(rig, others, others.count).rate for _ in range(2)][1] / 2  # the first warms up
            yield from _rows(rig, min(sizes.rounds, _MOST_ROUNDS), rate, percent, suffix)
    finally:
        rig.abandon()  # in other rows these followers are not live


def size_class(followers):
    return _CLASSES[min(max(len(str(followers)) - 2, 0), len(_CLASSES) - 1)]


def _rows(rig, rounds, rate, percent, suffix):
    star = rig.population.authors["celebrity"]
    live = star.followers * percent // 100
    found = [_round(rig, star, live, rate) for _ in range(rounds + 1)][1:]
    fan_outs = f"fan-outs to {star.followers:,}, {percent}% live"
    yield row(f"fairness_p99_ratio_live{percent}{suffix}", [beside.p99_ms for _, _, beside in found],
              f"ms, p99 beside {fan_outs}", "without", [calm.p99_ms for _, calm, _ in found],
              events_per_second=rate,
              listed=statistics.median(beside.listed for _, _, beside in found))
    yield row(f"fairness_fanout_live{percent}{suffix}", [beside.fanned_out for _, _, beside in found],
              f"deliveries/s of {fan_outs}", "without others", [alone for alone, _, _ in found],
              others_deliveries_per_second=statistics.median(beside.others for _, _, beside in found))


def _round(rig, star, live, rate):
    """Deliveries a second of a fan-out alone; the others alone; both together."""
    seconds = run_at(rig, star, 1).seconds
    calm = _Others(rig, rate)
    with _fan_outs(rig, star, 1 / seconds):
        beside = _Others(rig, rate)
    rig.wait_idle()
    rig.say(f"p99 {calm.p99_ms:.0f} ms at {rate:.0f} posts/s, {beside.p99_ms:.0f} ms beside fan-outs; "
            f"{live / seconds:,.0f} deliveries/s of a fan-out alone, {beside.fanned_out:,.0f} beside others")
    return live / seconds, calm, beside


@contextmanager
def _fan_outs(rig, star, rate):
    """The next one is published when the one before would be done if it were alone."""
    publisher = rig.start_publishing(star, _FAN_OUTS, rate, "5ms")
    try:
        time.sleep(_SETTLE)
        yield
        assert publisher.poll() is None, "the fan-outs did not last"
    finally:
        publisher.terminate()
        publisher.wait()


class _Others:
    """Publishes their posts at a steady rate and waits for the last delivery of each."""

    def __init__(self, rig, rate):
        authors = rig.population.authors["live100"]
        events = min(authors.count, max(1, int(rate * _LONGEST)))
        mine = size_class(authors.followers)

        def delivered():
            return rig.fleet.counters().histogram(LAST_DELIVERY, followers=mine).total

        before, begin = rig.fleet.counters(), time.perf_counter()
        rig.publish(authors, events, rate)
        wait_done(delivered, before.histogram(LAST_DELIVERY, followers=mine).total + events,
                  "last deliveries", rig.say)
        seconds, done = time.perf_counter() - begin, rig.fleet.counters() - before
        self.p99_ms = done.histogram(LAST_DELIVERY, followers=mine).quantile(0.99) * 1e3
        self.others = events * authors.followers / seconds  # deliveries a second: all are live
        self.listed = done.total(_PAGES, source="list") / done.total(_PAGES)
        self.fanned_out = done.total(_DELIVERIES, result="added") / seconds - self.others
