"""A whole fleet under load, and a real Prometheus that scrapes it and judges our rules."""

import functools
import itertools
import re
import time

from confluent_kafka import Producer as KafkaProducer

from stack.programs.api import Api
from stack.programs.daemon import Daemon
from stack.programs.fleet import FEED
from stack.programs.relation_log import RelationLog
from stack.programs.visits import make_live
from stack.programs.watch import Watch
from stack.services.prometheus import Prometheus
from stack.waiting import wait_until
from tests.e2e.installation import SESSION, Installation, most_followed
from tests.e2e.meanwhile import Again
from tests.e2e.relations import Tables, shard_of, version
from tests.monitoring.rules import RULES

_NEW_USERS = itertools.count(1_000_000)  # users beyond the graph


def sees_fire(*alerts):
    """Of a test: it sees all of these fire, and waits for no other. alerts_of() tells them to others."""
    def says(test):
        @functools.wraps(test)
        def judged(self):
            self.seen_firing = set()
            if self.silent_at_first:
                self.assertEqual([alert for alert in alerts if self.fires(alert)], [])
            test(self)
            self.assertEqual(self.seen_firing, set(alerts))
        judged.alerts = frozenset(alerts)
        return judged
    return says


class Watched(Installation):
    silent_at_first = False  # no alert that a test sees fire fires before it
    pushers = 2
    mirrors = 1
    reconciler_args = ("--grace", "1s")
    watch_args = ("--watch-every", "1s", "--watch-readers", "1000", "--watch-again-after", "1s")
    waits = "2s"  # stands for every `for` of the alerts
    window = None  # seconds; where given, stand for every time over which alerts count, and for how old a start may be

    @classmethod
    def shortened(cls, rules):
        """The text of a file of rules, as it is judged here."""
        rules = re.sub(r"(?m)^( *for:).*$", rf"\1 {cls.waits}", rules)
        if cls.window is None:
            return rules
        rules = re.sub(r"((?:increase|changes|max_over_time)\([^\[\]]*)\[\w+(:?)\]", rf"\1[{cls.window}s\2]", rules)
        rules = re.sub(r"\] offset \w+", f"] offset {cls.window}s", rules)
        return re.sub(r"(process_start_time_seconds) < \d+", rf"\1 < {cls.window}", rules)

    @classmethod
    def api_args(cls):
        """What the API is told besides the services."""
        return ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.reconciler = Daemon(cls.stack, cls.ports, "fanline-reconciler", "reconciler",
                                [*cls.reconciler_args, *SESSION]).start()
        cls.api = Api(cls.stack, cls.ports, args=cls.api_args()).start()
        cls.watch = Watch(cls.stack, cls.ports, args=cls.watch_args).start()
        cls.tables, cls.log = Tables(cls.stack), RelationLog(cls.stack.kafka.address)
        jobs = {"fanline-dispatcher": cls.fleet.dispatchers, "fanline-pusher": cls.fleet.pushers,
                "fanline-mirror": cls.fleet.mirrors, "fanline-reconciler": [cls.reconciler],
                "fanline-api": [cls.api], "fanline-audit": [cls.watch]}
        targets = {job: [daemon.port for daemon in daemons] for job, daemons in jobs.items()}
        texts = [cls.shortened(path.read_text()) for path in sorted(RULES.glob("*.yaml"))]
        for daemon in (cls.reconciler, cls.api, cls.watch):
            daemon.wait_ready()
        cls.prometheus = cls.stack.add(lambda workspace, ports, env: Prometheus(
            workspace, ports, env, targets, texts))
        cls.readers = sorted(set().union(*cls.ledger.followers.values()))[:100]
        make_live(cls.api, cls.readers)
        cls.started = time.time()
        wait_until(cls.scraped, 60, "every daemon to be scraped")

    @classmethod
    def scraped(cls):
        """Whether each daemon was, and what it had counted so far is known."""
        return len(cls.prometheus.query("up == 1")) == len(cls.fleet.daemons) + 3

    @classmethod
    def begin_load(cls):
        """Posts, follows, unfollows and pages at an even rate, until `load` is ended."""
        client = cls.api.client()
        cls.addClassCleanup(client.close)
        authors, readers = itertools.cycle(most_followed(cls.ledger, 50)), itertools.cycle(cls.readers)

        def turn():
            reader, stranger = next(readers), next(_NEW_USERS)
            cls.publish_all([next(authors) for _ in range(3)])
            client.get(f"/v1/users/{reader}/timeline")
            client.get(f"/v1/users/{reader}/posts")
            client.put(f"/v1/users/{stranger}/following/{reader}")
            client.delete(f"/v1/users/{stranger}/following/{reader}")

        cls.load = Again(turn, 0.1)
        cls.load.start()

    # Load publishes from a class; Installation's own are a test's.
    @classmethod
    def publish_all(cls, authors, created_at_ms=None):
        return Installation.publish_all(cls, authors, created_at_ms)

    @classmethod
    def send(cls, events):
        Installation.send(cls, events)

    # ---- faults --------------------------------------------------------------------------------

    def give_bad_events(self, count):
        producer = KafkaProducer({"bootstrap.servers": self.stack.kafka.address})
        for _ in range(count):
            producer.produce(FEED, value=b"\xff\xfe not an event")
        self.assertEqual(producer.flush(60), 0)

    def end_follows_without_a_mirror(self, count, shard):
        """What a mirror lost: forward rows that say "no more", reverse rows that say "follows"."""
        edges = []
        while len(edges) < count:
            src, dst = next(_NEW_USERS), next(_NEW_USERS)
            if shard_of(dst) == shard:
                edges.append((src, dst, version(), True))
        ended = [(src, dst, ver + 1, False) for src, dst, ver, _ in edges]
        self.tables.put_reverse(*edges)
        self.tables.put_forward(*ended)
        self.log.written(*ended)

    # ---- what Prometheus says ------------------------------------------------------------------

    def fires(self, alert, **labels):
        return any({"alertname": alert, **labels}.items() <= one.items()
                   for one in self.prometheus.firing())

    def wait_fires(self, alert, timeout=60, **labels):
        self.wait_for(lambda: self.fires(alert, **labels), f"{alert} {labels} to fire", timeout)
        self.seen_firing.add(alert)

    def wait_silent(self, alert, timeout=60, **labels):
        self.wait_for(lambda: not self.fires(alert, **labels), f"{alert} {labels} to end", timeout)


def alerts_of(module):
    """Those that the module's tests see fire."""
    classes = [one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__]
    return frozenset().union(*(getattr(member, "alerts", ()) for one in classes for member in vars(one).values()))
