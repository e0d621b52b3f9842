"""Deliveries to a Redis Cluster beside deliveries to one node: the same hints, read by two groups."""

import statistics
import time

from bench.backlog_run import HELD, Disturbed, Look, fill_with_hints, summed_up, watch
from bench.measure import interleaved, row
from bench.processes import CpuMeter
from bench.rig import LONGEST, WINDOW


def cluster_vs_single(rig, sizes):
    """Deliveries per second of authors with 200 followers, all live, whose hints wait: a pusher and
    three masters without replicas, beside a pusher and one node."""
    rig.scene("compact", HELD)
    rig.wait_idle()
    cluster = rig.cluster()
    pusher = rig.pusher_beside(cluster, HELD)
    try:
        rig.make_live(WINDOW, LONGEST, cluster)
        turns = _Turns(rig, rig.population.authors["live100"], sizes.posts["live100"])
        of_cluster = _Side(pusher, [node.pid for node in cluster.nodes])
        of_one = _Side(rig.pusher, [rig.stack.redis.pid])
        turns.sides = (of_cluster, of_one)
        pairs = interleaved(sizes.rounds, lambda number: turns.run(of_cluster, number),
                            lambda number: turns.run(of_one, number))
    finally:
        for held in (rig.pusher, pusher):
            held.resume()
        pusher.stop()
        cluster.stop()
    of_cluster, of_one = zip(*pairs)
    yield row("cluster_vs_single", [run.deliveries / run.seconds for run in of_cluster],
              "deliveries/s, three masters", "one node",
              [run.deliveries / run.seconds for run in of_one],
              timelines_per_batch_of=[_median_batch(runs) for runs in (of_cluster, of_one)],
              cpu_us_per_delivery=_cpu_us(of_cluster), beside_cpu_us_per_delivery=_cpu_us(of_one))
    both = [[sum(run.cpu.values()) * 1e6 / run.deliveries for run in runs] for runs in (of_cluster, of_one)]
    yield row("cluster_vs_single_cpu", both[0], "CPU us/delivery of pusher and Redis, three masters", "one node",
              both[1])


class _Side:
    """A pusher and its Redis. It stands still but in its turn; hints wait for it meanwhile."""

    def __init__(self, pusher, redis_pids):
        self._pusher = pusher
        self._pids = {"pusher": [pusher.process.pid], "redis": redis_pids}
        self._before = Look.at_pusher(pusher)
        self.posts = 0  # that wait
        pusher.pause()

    def run(self, rig, authors):
        posts, self.posts = self.posts, 0
        before, meter, moments = self._before, CpuMeter(self._pids), []
        begin = time.perf_counter()
        self._pusher.resume()
        self._before = watch(self._pusher, begin, before, posts * rig.ranges, moments)
        cpu = meter.spent()
        self._pusher.pause()
        return summed_up(before, self._before, self._before.at - begin, cpu, moments,
                         rig.deliveries_due(authors, posts))


class _Turns:
    """Fills the log once a round, for both sides."""

    def __init__(self, rig, authors, posts):
        self._rig, self._authors, self._posts = rig, authors, posts
        self._round = None
        self.sides = ()

    def run(self, side, number):
        if number != self._round:
            self._round = number
            self._fill()
        try:
            return side.run(self._rig, self._authors)
        except Disturbed as reason:
            self._rig.say(f"once more: {reason}")
            self._fill()  # the other side will have twice as much to do
            return side.run(self._rig, self._authors)

    def _fill(self):
        fill_with_hints(self._rig, self._authors, self._posts)
        for side in self.sides:
            side.posts += self._posts


def _median_batch(runs):
    return statistics.median(run.timelines_per_batch for run in runs)


def _cpu_us(runs):
    total = sum((run.cpu for run in runs), start=type(runs[0].cpu)())
    deliveries = sum(run.deliveries for run in runs)
    return {name: spent * 1e6 / deliveries for name, spent in sorted(total.items())}
