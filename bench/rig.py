"""One installation to measure: services in memory, one dispatcher, one pusher (for some rows two of
each), the population's graph. It keeps from row to row what takes time to make."""

import itertools
import json
import os
import subprocess
import time
import zlib
from collections import Counter
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from bench import patience
from bench.measure import is_warm
from bench.population import FIRST_ASLEEP, FIRST_LIVE
from bench.processes import CpuMeter, compiler_seconds
from stack.local_stack import LocalStack
from stack.ports import Ports
from stack.programs import BIN
from stack.programs.api import Api
from stack.programs.daemon import Daemon
from stack.programs.feedctl import Feedctl
from stack.programs.fleet import FEED, PARTITIONS, TASKS, Fleet
from stack.services.redis_cluster import RedisCluster
from stack.services.service import ServiceFailed
from stack.waiting import wait_until

WINDOW, LONGEST = 450, 496  # items of a timeline after a trim, and before the next
_MOST_ADDED = 16  # members, by the write that trims
ENCODINGS = {"compact": 512, "skiplist": 128}  # zset-max-listpack-entries

# A follower row is about 60 bytes, twice (either direction), and must not be read from disk.
ROOT = Path(__file__).resolve().parent.parent
_BUFFER_POOL = "768M"
# The broker's code is compiled as that of any other: the harness' own quick start would cost twice
# the processor time for each request, and the fleet shares the cores with it.
_COMPILED = ["-XX:TieredStopAtLevel=4"]
_MOST_WARMING = 40  # rounds of events
_RELATIONS = ("following", "follower", "user_rel", "user_fan", "log1", "author", "author_post",
              "author_mode")
_HOUR_MS = 3_600_000
_BUCKETS = 1024
_KAFKA_TIMEOUT = 10
_FILLED_AT_ONCE = 100_000


class Plain(NamedTuple):
    """A run of plain ZADD."""

    seconds: float
    redis_cpu: float  # seconds
    client_cpu: float


class Rig:
    def __init__(self, population, say, ranges=PARTITIONS, window=WINDOW):
        self.population = population
        self.ranges = ranges
        self._window, self._longest = window, window + LONGEST - WINDOW
        # A plain sorted set is cut to this after each round, in which it gets about ten: half way through
        # it is as long as the timelines are on average, and none ever exceeds what a listpack may hold.
        self._plain = (self._window + self._longest) // 2 - 5
        self.say = say
        self.fleet = None
        self._ports = Ports()
        self._scene = None
        self._live_followers = Counter()  # by author; empty: the graph is not there
        self._awake = 0  # of those who are asleep at first, so many are live
        self._is_warm = False
        self._edges = 0
        self._groups = itertools.count()
        self._cluster = None
        self._clock_ms = int(time.time() * 1000) - 2 * _HOUR_MS
        self.stack = LocalStack(ports=self._ports, mysql_buffer_pool=_BUFFER_POOL,
                                kafka_java_args=_COMPILED, say=say)

    def __enter__(self):
        self.stack.start()
        self._feedctl = Feedctl(self.stack)
        self._feedctl.run("init", "--ranges", self.ranges, "--window", self._window,
                          "--timeline-max-entries", self._longest + _MOST_ADDED)
        self._feedctl.run("topics", "create")
        return self

    def __exit__(self, *error):
        if self.fleet:
            self.fleet.close()
        self.stack.__exit__(*error)

    # ---- scenes ---------------------------------------------------------------------------------

    def fresh_redis(self, encoding):
        """An empty Redis of that encoding, and nobody who writes to it. Whatever the topics hold is
        passed over: rows leave events and hints behind that nobody is to work off."""
        self._end_fleet()
        for group, topic in (("fanline-dispatcher", FEED), ("fanline-pusher", TASKS)):
            wait_until(partial(self._passed_over, group, topic), patience.LONGEST,
                       f"{group} to have no member")
        self.redis("CONFIG", "SET", "zset-max-listpack-entries", ENCODINGS[encoding])
        self.redis("FLUSHALL")
        self._scene = None
        self._awake = 0

    def scene(self, encoding, pusher_args=(), dispatcher_args=(), of_each=1, mirrors=0):
        """Makes a fleet that serves, timelines and plain sorted sets in Redis. The same scene
        again stays as it was left."""
        fleet = (tuple(pusher_args), tuple(dispatcher_args), of_each, mirrors)
        if self._scene == (encoding, fleet):
            return
        if self._scene and self._scene[0] == encoding:
            self._end_fleet()
            self._start_fleet(*fleet)  # takes over what the former left
        else:
            self.fresh_redis(encoding)
            self._start_fleet(*fleet)
            self.make_live(self._window, self._longest)
            self.make_plain_sets(self._plain)
        self._scene = (encoding, fleet)

    def empty_scene(self, of_each):
        """A fleet that serves a Redis without any timeline. Returns the bytes that Redis takes."""
        self.fresh_redis("compact")
        self._start_fleet((), (), of_each)
        return self.redis_bytes()

    def same_scene(self, dispatcher_args, of_each, pusher_args=()):
        """Another fleet on what there is."""
        self._end_fleet()
        self._start_fleet(tuple(pusher_args), tuple(dispatcher_args), of_each)

    def take_over(self):
        """The pushers start anew: they know nobody who is live, and no list of followers."""
        self.wait_idle()
        for pusher in self.fleet.pushers:
            pusher.stop()
            pusher.start()
        self.fleet.wait_serving()

    def _passed_over(self, group, topic):
        """False while members of the group are remembered: their session ends by itself."""
        try:
            place_at_end(self.stack.env["FANLINE_KAFKA_BROKERS"], group, topic)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.UNKNOWN_MEMBER_ID:
                raise
            return False
        return True

    def settle(self):
        """Waits until the fleet has nothing left to do. Of a dispatcher alone nobody takes the hints. A
        fleet that gets nowhere ends, so that the next row pays for no earlier one."""
        if not self.fleet or not self.fleet.pushers:
            return
        try:
            self.wait_idle()
        except (OSError, ServiceFailed) as error:
            self.say(f"the fleet ends, since it does not settle: {error}")
            self.abandon()

    def abandon(self):
        """After a row that failed: its fleet ends, whatever it was doing. The next scene is made anew."""
        self._scene = None
        self._end_fleet()

    def dispatcher_alone(self):
        """Starts a dispatcher alone: nobody takes what it appends."""
        self._end_fleet()
        self._scene = None
        self._import()
        self.fleet = Fleet(self.stack, self._ports, pushers=0, ranges=self.ranges).start()
        self.dispatcher.wait_ready()

    def no_relations(self):
        """Leaves only the services, and nobody follows anybody: ours and the other side's tables
        begin equally small. For rows that come last: the graph is gone."""
        self._end_fleet()
        self._scene = None
        for shard in self.stack.mysql:
            for table in _RELATIONS:
                shard.query(f"TRUNCATE {table}")
            shard.query("DROP TABLE IF EXISTS bare_following")

    def new_group(self):
        """The name of a consumer group that nobody has used."""
        return f"bench-{next(self._groups)}"

    def dispatched(self):
        """Events whose every hint is acknowledged."""
        return sum(daemon.scrape().total("fanline_events_done_total")
                   for daemon in self.fleet.dispatchers)

    def pushed(self):
        """Ranges, of all events, that want nothing more: every write of their hint is acknowledged, or they
        hold no follower."""
        return (sum(daemon.scrape().total("fanline_hints_done_total") for daemon in self.fleet.pushers) +
                sum(daemon.scrape().total("fanline_ranges_left_out_total")
                    for daemon in self.fleet.dispatchers))

    def wait_dispatched(self, events):
        patience.wait_done(self.dispatched, events, "events to be dispatched", self.say)

    def wait_pushed(self, hints):
        patience.wait_done(self.pushed, hints, "hints to be done", self.say)

    def wait_idle(self):
        """Until everything appended so far is done and acknowledged."""
        fleet = patience.Patience("the fleet to be idle", self.say)
        self.fleet.wait_idle(patience.LONGEST, lambda counters: fleet.look(
            f"{counters.total('fanline_events_done_total'):,.0f} events and "
            f"{counters.total('fanline_hints_done_total'):,.0f} hints done, "
            f"{counters.total('fanline_followers_read_total'):,.0f} followers read"))

    def make_live(self, least, most, redis=None):
        """Of `redis`, a service beside ours; else of ours."""
        self.fill(FIRST_LIVE, self.population.live, least, most, redis)

    def wake(self, wanted):
        """So many of the readers whom `make_live` leaves asleep are live from now on, the first ones, by
        timelines of one item. The scene is to be abandoned: in other rows they sleep."""
        while self._awake < wanted:
            more = min(_FILLED_AT_ONCE, wanted - self._awake)
            self.fill(FIRST_ASLEEP + self._awake, more, 1, 1)
            self._awake += more

    def fill(self, first, readers, least, most, redis=None, *more):
        """Makes so many readers live, with ids in a row."""
        self.helper("fanline-bench-fill", "--first-reader", first, "--readers", readers, "--least",
                    least, "--most", most, "--newest", self.moments(1), *more, env=at_redis(redis))

    def cluster(self):
        """A Redis Cluster of three masters without replicas, empty. The caller stops it."""
        if self._cluster is None:
            self._cluster = self.stack.add(partial(RedisCluster, "cluster", replicas=0))
        elif not self._cluster.running:
            self._cluster.start()
        return self._cluster

    def pusher_beside(self, redis, args=()):
        """A pusher that serves another Redis from the same log, for a group of its own. The caller
        stops it."""
        group = self.new_group()
        place_at_end(self.stack.env["FANLINE_KAFKA_BROKERS"], group, TASKS)
        pusher = Daemon(self.stack, self._ports, "fanline-pusher", group,
                        ["--group", group, *args], at_redis(redis)).start().wait_ready()
        wait_until(lambda: pusher.scrape().total("fanline_ranges_ready") == self.ranges, 120,
                   f"every range to be owned by {group}")
        return pusher

    def make_plain_sets(self, size):
        """Makes as many plain sorted sets as there are timelines."""
        self._zadd("fill", "--size", size, "--newest", self.moments(1))

    def _start_fleet(self, pusher_args, dispatcher_args, of_each, mirrors=0):
        self._import()
        self.fleet = Fleet(self.stack, self._ports, dispatchers=of_each, pushers=of_each,
                           ranges=self.ranges, dispatcher_args=dispatcher_args,
                           pusher_args=pusher_args, mirrors=mirrors).start()
        self.fleet.wait_serving()
        if not self._is_warm:
            self._warm_broker()

    def _warm_broker(self):
        """Publishes until the broker's compiler is done with what it runs most: until then it takes half of
        the broker's processor time in short rows."""
        authors, shares, pid = self.population.authors["moderate"], [], self.stack.kafka.pid
        while not is_warm(shares) and len(shares) < _MOST_WARMING:
            hints, meter, compiled = self.pushed(), self.cpu_meter(), compiler_seconds(pid)
            self.publish(authors, authors.count)
            self.wait_pushed(hints + authors.count * self.ranges)
            shares.append(max(0, compiler_seconds(pid) - compiled) / max(0.01, meter.spent()["kafka"]))
        self._is_warm = True
        self.say(f"the broker is warm: its compiler took {shares[0]:.0%} of its CPU at first, {shares[-1]:.0%} "
                 f"after {len(shares)} rounds of {authors.count:,} events")

    def _end_fleet(self):
        if self.fleet is None:
            return
        for daemon in self.fleet.daemons:
            if daemon.running:
                daemon.stop()
        self.fleet.close()
        self.fleet = None

    def _import(self):
        """Once: rows that need no graph, chosen alone, do not wait for it."""
        if self._live_followers:
            return

        live = Counter()

        def counted():
            for reader, author in self.population.edges():
                live[author] += self.population.is_live(reader)
                yield reader, author

        self.import_edges(counted())
        self._live_followers = live

    def import_edges(self, edges):
        """Of (follower, author). Where a pusher serves, its timelines are brought in line."""
        begin, count = time.monotonic(), 0
        graph = self.stack.logs / "graph.txt"
        with open(graph, "w", encoding="ascii") as lines:
            for reader, author in edges:
                lines.write(f"{reader} {author}\n")
                count += 1
        self._feedctl.run("import", graph, timeout=600)
        graph.unlink()
        self.say(f"{count:,} edges imported, {time.monotonic() - begin:.0f} s")

    @property
    def in_memory(self):
        return Path("/dev/shm") in self.stack.logs.parents

    # ---- tools ----------------------------------------------------------------------------------

    @property
    def dispatcher(self):
        return self.fleet.dispatchers[0]

    @property
    def pusher(self):
        return self.fleet.pushers[0]

    def moments(self, count):
        """The first of so many milliseconds later than all before and not in the future: created_at
        of posts that go to the head of every timeline."""
        first = self._clock_ms
        self._clock_ms += count
        return first

    def edges(self, count):
        """Number of the first of so many made-up edges that nobody has used."""
        first = self._edges
        self._edges += count
        return first

    def publish(self, authors, posts, rate=0):
        """Puts that many events of the block's first authors in turn into the feed topic: as fast
        as it goes, or so many a second."""
        each, turns = _in_turns(authors, posts)
        self.helper("fanline-bench-publish", "--first-author", authors.first, "--authors", each,
                    "--turns", turns, "--created-at", self.moments(posts), "--rate", rate)

    def start_publishing(self, authors, posts, rate, linger):
        """The process that does the same, each event waiting so long for others; not its end."""
        each, turns = _in_turns(authors, posts)
        return subprocess.Popen(
            [BIN / "fanline-bench-publish", "--first-author", str(authors.first), "--authors",
             str(each), "--turns", str(turns), "--created-at", str(self.moments(posts)), "--rate",
             str(rate), "--linger", linger], env={**os.environ, **self.stack.env},
            stdout=subprocess.DEVNULL)

    def merge_at_read(self, authors, readers):
        """Has the readers follow all these authors, whose new posts are merged at read."""
        graph = self.stack.logs / "merged.txt"
        every = range(authors.first, authors.first + authors.count)
        graph.write_text("".join(f"{reader} {author}\n" for reader in readers for author in every))
        self._feedctl.run("import", graph, timeout=600)
        for author in every:
            self._feedctl.run("author", "mode", author, "pull")

    def marks(self, reader):
        """Of authors merged at read, in the reader's timeline."""
        key, = self.redis("KEYS", f"tl:*:{reader}")
        return sum(member.startswith("A")
                   for member in self.redis("ZRANGE", key, "-inf", "-inf", "BYSCORE"))

    @contextmanager
    def daemon(self, program, *args):
        """Beside the fleet, for a block."""
        daemon = Daemon(self.stack, self._ports, program, program, args).start()
        try:
            yield daemon.wait_ready()
        finally:
            if daemon.running:
                daemon.stop()

    def api(self):
        """A process that serves pages. The caller stops it."""
        return Api(self.stack, self._ports).start().wait_ready()

    def shard_of(self, user):
        bucket = zlib.crc32(str(user).encode()) % _BUCKETS
        return self.stack.mysql[bucket * len(self.stack.mysql) // _BUCKETS]

    def deliveries_due(self, authors, posts):
        """How many timelines these posts must come into."""
        each, turns = _in_turns(authors, posts)
        if authors.live_percent == 0:
            return posts * min(self._awake, authors.followers)
        return turns * sum(self._live_followers[author]
                           for author in range(authors.first, authors.first + each))

    def plain_zadd(self, posts, per_post, seed):
        """Delivers by plain ZADD."""
        meter = CpuMeter({"redis": [self.stack.redis.pid]})
        run = self._zadd("run", "--posts", posts, "--per-post", per_post, "--seed", seed,
                         "--newest", self.moments(posts))
        cpu = meter.spent()["redis"]
        self._zadd("cut", "--size", self._plain)
        return Plain(run["seconds"], cpu, run["cpu_seconds"])

    def _zadd(self, command, *args):
        return self.helper("fanline-bench-zadd", command, "--sets", self.population.live, *args)

    def helper(self, program, *args, env=None):
        """Runs a program of the bench; returns the JSON it printed."""
        run = subprocess.run([BIN / program, *map(str, args)],
                             env={**os.environ, **self.stack.env, **(env or {})},
                             capture_output=True, text=True, timeout=300)
        if run.returncode != 0:
            raise RuntimeError(f"{program} ended with {run.returncode}: {run.stderr.strip()}")
        return json.loads(run.stdout)

    def redis(self, *words):
        return self.stack.redis.command(*words)

    def redis_bytes(self):
        for line in self.redis("INFO", "memory").splitlines():
            if line.startswith("used_memory:"):
                return int(line.partition(":")[2])
        raise RuntimeError("Redis does not say how much memory it uses")

    def cpu_meter(self):
        return CpuMeter({
            "dispatcher": [daemon.process.pid for daemon in self.fleet.dispatchers],
            "pusher": [daemon.process.pid for daemon in self.fleet.pushers],
            **({"mirror": [daemon.process.pid for daemon in self.fleet.mirrors]} if self.fleet.mirrors else {}),
            "redis": [self.stack.redis.pid],
            "mariadb": [shard.pid for shard in self.stack.mysql],
            "kafka": [self.stack.kafka.pid],
        })


def at_redis(service):
    """The environment of a program that is to use that Redis; None: the stack's own."""
    return {"FANLINE_REDIS": service.address} if service else {}


def place_at_end(brokers, group, topic):
    """The group, which has no member yet, begins with what is appended from now on."""
    asker = Consumer({"bootstrap.servers": brokers, "group.id": group, "enable.auto.commit": False,
                      "log_level": 0})
    partitions = asker.list_topics(topic, _KAFKA_TIMEOUT).topics[topic].partitions
    ends = [TopicPartition(topic, number, asker.get_watermark_offsets(
        TopicPartition(topic, number), _KAFKA_TIMEOUT)[1]) for number in partitions]
    try:
        for place in asker.commit(offsets=ends, asynchronous=False):
            if place.error:
                raise KafkaException(place.error)
    finally:
        asker.close()


def _in_turns(authors, posts):
    """How many of the authors publish how often: distinct ones as long as there are."""
    turns = max(1, posts // authors.count)
    assert posts % turns == 0 and posts // turns <= authors.count
    return posts // turns, turns
