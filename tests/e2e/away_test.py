"""Something is away: gone, or hanging with all its connections open. Posts are delivered at an even
rate all the while. What needs it waits, nothing is lost, no daemon is started again - and all else
is delivered as if nothing were the matter.

Readers follow authors of one shard only, so that each delivery needs one master of Redis and one
MariaDB shard. What was delivered is counted in Redis itself. FANLINE_AWAY_SECONDS is how long each
thing is away. 30 and more (`make test-long`) loses each thing in each way, and judges the rates;
less loses two at once, and is too short to judge a rate.
"""

import os
import threading
import time
import unittest

from demo.producer import NotAcknowledged, Producer
from stack.programs.fleet import FEED
from stack.services.redis_cluster import SLOTS
from stack.wire.redis import RedisClient, RedisError
from tests.e2e.installation import Installation
from tests.e2e.meanwhile import Again
from tests.e2e.relations import shard_of

AWAY = float(os.environ.get("FANLINE_AWAY_SECONDS", 8))
WHOLE = AWAY >= 30
BEFORE = AFTER = AWAY / 2 if WHOLE else 2  # seconds
RATE = int(os.environ.get("FANLINE_AWAY_RATE", 100))  # posts a second
KEPT = 0.9  # of the rate of what does not need what is away
RANGES, SHARDS = 16, 2
AUTHORS = range(1, 401)
READERS = range(1_001, 7_001)
FOLLOWERS = 40  # no timeline gets a window of items in one test: they would be trimmed
whole = unittest.skipUnless(WHOLE, "for make test-long")


class Watch(threading.Thread):
    """Counts what came into every fourth timeline since it began, by master and shard, twice a second."""

    def __init__(self, cluster, fleet):
        super().__init__()
        self._fleet, self._over = fleet, threading.Event()
        self._newer = f"-{time.time_ns() // 1_000_000}"  # scores are times, negative
        self._keys = {}  # (node, shard of the authors followed) -> keys
        for node in cluster.masters():
            for key in node.command("KEYS", "tl:*")[::4]:
                self._keys.setdefault((node, int(key.rsplit(":", 1)[1]) % SHARDS), []).append(key)
        self._clients, self.away = {}, set()
        self.seen = []  # (when, items by node and shard)
        self.memory = 0  # MB, of the largest daemon

    def run(self):
        while not self._over.wait(0.5):
            self.look()

    def look(self):
        now = time.monotonic()
        items = dict(self.seen[-1][1]) if self.seen else {}
        for place, keys in self._keys.items():
            if place[0] in self.away:
                continue
            try:
                items[place] = self._count(place[0], keys)
            except (OSError, RedisError):  # just gone, or just back, perhaps as a replica
                if place[0] in self._clients:
                    self._clients.pop(place[0]).close()
        self.seen.append((now, items))
        self.memory = max([self.memory] + [_memory(daemon) for daemon in self._fleet.daemons])

    def _count(self, node, keys):
        if node not in self._clients:
            self._clients[node] = RedisClient(node.port, 1)
        client = self._clients[node]
        for key in keys:
            client.send("ZCOUNT", key, "-inf", self._newer)
        return sum(client.receive() for _ in keys)

    def end(self):
        self._over.set()
        self.join()
        while self._clients:
            self._clients.popitem()[1].close()

    def line(self, wanted, begin, end):
        """(when, items) in that time, of the places that are `wanted`."""
        return [(when, sum(count for place, count in items.items() if wanted(*place)))
                for when, items in self.seen if begin <= when <= end]


def rate(line):
    (begin, before), (end, after) = line[0], line[-1]
    return (after - before) / max(end - begin, 0.1)


def longest_gap(line):
    """The longest time in which nothing was delivered."""
    longest, (since, before) = 0, line[0]
    for when, items in line[1:]:
        longest = max(longest, when - since)
        if items != before:
            since, before = when, items
    return longest


def worst(line, seconds=3):
    """The lowest rate over so many seconds."""
    rates = [rate([start, end]) for number, start in enumerate(line) for end in line[number:]
             if seconds <= end[0] - start[0] < seconds + 1]
    return min(rates, default=0)


def _memory(daemon):
    with open(f"/proc/{daemon.process.pid}/status") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmRSS"))


class Away(Installation):
    pushers = 2
    stack_options = {"cluster": True, "redis_appendonly": True}

    @classmethod
    def made_graph(cls):
        of_shard = [[reader for reader in READERS if reader % SHARDS == shard]
                    for shard in range(SHARDS)]
        graph = {}
        for number, author in enumerate(AUTHORS):
            theirs = of_shard[shard_of(author)]
            graph[author] = {theirs[(number * 17 + nth * 23) % len(theirs)]
                             for nth in range(FOLLOWERS)}
        return graph

    def setUp(self):
        super().setUp()
        self.make_live(READERS)
        self.cluster = self.stack.redis
        self.lives = {daemon.name: daemon.process.pid for daemon in self.fleet.daemons}
        self.turn = 0

    def send(self, events):
        """As often as it takes, as an application does whose client gave up after 30 s."""
        for event in events:
            self.ledger.apply(event)
        while True:
            try:
                return self.producer.send(events)
            except NotAcknowledged:
                self.producer = Producer(self.stack.kafka.address, FEED)

    def publish_for_a_second(self):
        authors = [AUTHORS[(self.turn + nth) % len(AUTHORS)] for nth in range(RATE)]
        self.turn += RATE
        begin = time.monotonic()
        for start in range(0, RATE, 10):
            self.publish_all(authors[start:start + 10])
            time.sleep(max(0, begin + (start + 10) / RATE - time.monotonic()))

    # ---- what is away ------------------------------------------------------------------------

    def test_a_master_of_redis_and_a_shard_that_hang(self):
        master, shard = self.a_master(), self.a_shard()
        self.lose([master, shard], "pause", "resume",
                  lambda node, of_shard: node not in master.nodes and of_shard != shard.number)

    @whole
    def test_a_master_of_redis_and_its_replica_that_are_gone(self):
        master = self.a_master()
        self.lose([master], "kill", "start", lambda node, _: node not in master.nodes)

    @whole
    def test_a_master_of_redis_and_its_replica_that_hang(self):
        master = self.a_master()
        self.lose([master], "pause", "resume", lambda node, _: node not in master.nodes)

    @whole
    def test_a_shard_that_is_gone(self):
        shard = self.a_shard()
        self.lose([shard], "kill", "start", lambda _, of_shard: of_shard != shard.number)

    @whole
    def test_a_shard_that_hangs(self):
        shard = self.a_shard()
        self.lose([shard], "pause", "resume", lambda _, of_shard: of_shard != shard.number)

    @whole
    def test_all_of_redis_that_is_gone(self):
        self.lose([AllOfRedis(self)], "kill", "start")

    @whole
    def test_all_of_redis_that_hangs(self):
        self.lose([AllOfRedis(self)], "pause", "resume")

    @whole
    def test_the_broker_that_is_gone(self):
        self.lose([Broker(self)], "kill", "start")

    @whole
    def test_the_broker_that_hangs(self):
        self.lose([Broker(self)], "pause", "resume")

    def a_master(self):
        return MasterAndReplica(self, SLOTS // RANGES * (RANGES - 1))

    def a_shard(self):
        return Shard(self, 1)

    def lose(self, things, lose, bring_back, others=None):
        """`others(node, shard)`: deliveries that need none of the things; without it, all do."""
        load, watch = Again(self.publish_for_a_second, 0), Watch(self.cluster, self.fleet)
        for thread in (load, watch):
            thread.start()
        self.addCleanup(watch.end)
        self.addCleanup(load.end)
        time.sleep(2)
        times = [time.monotonic()]
        self.look_for(watch, BEFORE)
        times.append(time.monotonic())
        for thing in things:
            watch.away |= thing.nodes
            thing.do(lose)
        time.sleep(AWAY)
        times.append(time.monotonic())
        try:
            for thing in things:
                thing.look()
        finally:
            for thing in things:
                thing.do(bring_back)
        for thing in things:
            thing.wait()
        watch.away = set()
        self.wait_for(lambda: self.fleet.ranges_ready() == RANGES, "every range to be owned")
        for daemon in self.fleet.daemons:
            daemon.wait_ready()
        served = time.monotonic()
        self.look_for(watch, AFTER)
        load.end()
        watch.end()
        self.report(watch, others, [*times, served])
        self.settle()
        self.assert_exact(live=READERS)
        self.assertEqual(self.lives, {daemon.name: daemon.process.pid
                                      for daemon in self.fleet.daemons})

    def look_for(self, watch, seconds):
        """At least: until there was a look after the first, which a slow machine takes longer for."""
        before = len(watch.seen)
        time.sleep(seconds)
        self.wait_for(lambda: len(watch.seen) > before + 2, "looks at timelines")

    def report(self, watch, others, times):
        begin, lost, end, served = times
        text = (f"\n{self.id().rsplit('.')[-1]}: served again {served - end:.1f} s after it came "
                f"back; largest daemon {watch.memory} MB")
        if others is None:
            return print(text, flush=True)
        before, during = (watch.line(others, *span) for span in ((begin, lost), (lost, end)))
        after = watch.line(others, served, time.monotonic())
        beside = max(1, (rate(before) + rate(after)) / 2)
        print(f"{text}; others {rate(before):,.0f} deliveries/s before, {rate(during):,.0f} while it "
              f"was away, {rate(after):,.0f} after: {rate(during) / beside:.2f}; worst 3 s "
              f"{worst(during) / beside:.2f}, longest gap {longest_gap(during):.1f} s (before: "
              f"{longest_gap(before):.1f} s)", flush=True)
        self.assertLess(longest_gap(during), AWAY / 2, "others waited")
        if WHOLE:
            self.assertGreaterEqual(rate(during), KEPT * beside)


# ---- what may be away: its nodes of Redis, what is parked for it, and when it is back -----------


class Thing:
    nodes = frozenset()

    def __init__(self, test):
        self.test = test

    def look(self):
        """What is parked after all that time."""

    def wait(self):
        """Until it serves again."""


class MasterAndReplica(Thing):
    def __init__(self, test, slot):
        super().__init__(test)
        master = test.cluster.owner(slot)
        self.nodes = {master, test.cluster.replica_of(master)}
        self._ranges = sum(test.cluster.owner(SLOTS // RANGES * number) is master
                           for number in range(RANGES))

    def do(self, what):
        for node in self.nodes:
            getattr(node, what)()

    def look(self):
        self.test.assertEqual(self.test.fleet.ranges_ready(), RANGES - self._ranges)

    def wait(self):
        self.test.cluster.wait_whole()


class AllOfRedis(Thing):
    def __init__(self, test):
        super().__init__(test)
        self.nodes = set(test.cluster.nodes)

    def do(self, what):
        getattr(self.test.cluster, what)()

    def look(self):
        self.test.assertEqual(self.test.fleet.ranges_ready(), 0)

    def wait(self):
        self.test.cluster.wait_whole()


class Shard(Thing):
    def __init__(self, test, number):
        super().__init__(test)
        self.number = number

    def do(self, what):
        getattr(self.test.stack.mysql[self.number], what)()

    def look(self):
        dispatcher, = self.test.fleet.dispatchers
        parked, published = dispatcher.scrape().total("fanline_events_parked"), RATE / SHARDS * AWAY
        self.test.assertGreater(parked, published / 2)
        self.test.assertLess(parked, published * 1.5)


class Broker(Thing):
    def do(self, what):
        getattr(self.test.stack.kafka, what)()
