"""An installation to test: services, daemons, a small graph imported, and a ledger of what must
come of it. Each class of tests has its own."""

import itertools
import random
import time
import unittest
from collections import Counter

from demo.check import check_timelines
from demo.ledger import Ledger
from demo.producer import Producer
from demo.workload import Event
from stack.local_stack import LocalStack, wait_until
from stack.ports import Ports
from stack.programs.feedctl import Feedctl
from stack.programs.fleet import FEED, Fleet
from stack.programs.relations import Relations
from stack.programs.timelines import member_of, read_timelines
from stack.programs.visits import make_live, visited

USERS = 300
# A member that is gone is missed this soon.
SESSION = ["--kafka-properties", "session.timeout.ms=2000,heartbeat.interval.ms=300"]


def made_up_graph(draw=None, users=USERS):
    """Author -> followers. Some are followed by many, some by nobody, as in real ones."""
    draw = draw or random.Random(1)
    followers = {}
    for author in range(1, users + 1):
        size = min(users - 1, int(draw.paretovariate(1.0)))
        others = [user for user in range(1, users + 1) if user != author]
        followers[author] = set(draw.sample(others, size))
    return followers


class KeepsLogs(unittest.TestCase):
    def run(self, result=None):
        """Leaves the logs of a test that fails behind."""
        before = len(result.errors) + len(result.failures)
        super().run(result)
        if len(result.errors) + len(result.failures) > before:
            print(f"logs of {self.id()}: {self.stack.keep_logs(self.id())}", flush=True)
        return result


class Installation(KeepsLogs):
    """Subclasses say how many daemons there are, and how the services are set up."""

    ranges = 16
    own_posts = False
    dispatchers = 1
    pushers = 1
    mirrors = 0
    dispatcher_args = ()
    sample_rate = "1"  # of posts, whose way is measured
    pusher_args = ()
    stack_options = {}

    @classmethod
    def setUpClass(cls):
        cls.ports = ports = Ports()
        cls.stack = LocalStack(ports=ports, say=lambda line: None, **cls.stack_options)
        cls.addClassCleanup(cls.stack.stop)
        cls.stack.start()
        cls.prepare_services()
        cls.feedctl = Feedctl(cls.stack)
        cls.feedctl.run("init", "--ranges", cls.ranges, *["--own-posts"][:cls.own_posts])
        cls.feedctl.run("topics", "create")
        cls.fleet = Fleet(cls.stack, ports, cls.dispatchers, cls.pushers, ranges=cls.ranges,
                          dispatcher_args=["--sample-rate", cls.sample_rate, *SESSION, *cls.dispatcher_args],
                          pusher_args=[*SESSION, *cls.pusher_args],
                          mirrors=cls.mirrors, mirror_args=SESSION)
        cls.addClassCleanup(cls.fleet.close)
        cls.ledger = Ledger(cls.made_graph(), cls.own_posts)
        graph = cls.stack.logs / "graph.txt"
        graph.write_text("".join(f"{src} {dst}\n" for src, dst in sorted(cls.ledger.edges())))
        cls.feedctl.run("import", graph)
        cls.fleet.start()
        cls.producer = Producer(cls.stack.kafka.address, FEED)
        cls.post_ids, cls.versions = itertools.count(1), itertools.count(1)
        cls.fleet.wait_serving()

    @classmethod
    def made_graph(cls):
        """Author -> followers, imported before the daemons start."""
        return made_up_graph()

    @classmethod
    def prepare_services(cls):
        """What is done to the services before any program starts."""

    def setUp(self):
        for daemon in self.fleet.daemons:
            if not daemon.running:  # an earlier test failed half-way
                daemon.start().wait_ready()

    # ---- what happens --------------------------------------------------------------------------

    def publish(self, author, created_at_ms=None):
        """One post; its id."""
        return self.publish_all([author], created_at_ms)[0]

    def publish_all(self, authors, created_at_ms=None):
        """A post of each, in this order; their ids."""
        created_at_ms = created_at_ms or time.time_ns() // 1_000_000
        events = [Event("published", next(self.post_ids), author, created_at_ms + number)
                  for number, author in enumerate(authors)]
        self.send(events)
        return [event.post for event in events]

    def send(self, events):
        for event in events:
            self.ledger.apply(event)
        self.producer.send(events)

    def delete(self, author, post):
        self.send([Event("deleted", post, author)])

    def hide(self, author, post, version):
        self.send([Event("hidden", post, author, version=version)])

    def unhide(self, author, post, version):
        self.send([Event("unhidden", post, author, version=version)])

    def follow(self, reader, author):
        self.change_relation(reader, author, True)
        self.wait_mirrored()
        self.ledger.follow(reader, author)

    def unfollow(self, reader, author):
        self.change_relation(reader, author, False)
        self.wait_mirrored()
        self.ledger.unfollow(reader, author)

    def change_relation(self, reader, author, follows):
        """A real change, which a mirror has yet to see."""
        Relations(self.stack.mysql).change(reader, author, follows)

    def wait_mirrored(self):
        """Until every change has its reverse row and its hint; needs a mirror."""
        self.wait_for(lambda: Relations(self.stack.mysql).pending() == 0, "the mirror")

    @classmethod
    def make_live(cls, readers):
        """They come for their timelines, to a process that is there for them alone."""
        with visited(cls.stack, cls.ports) as api:
            make_live(api, readers)

    def settle(self, timeout=300):
        self.fleet.wait_idle(timeout)

    # ---- what must hold ------------------------------------------------------------------------

    def timelines(self):
        return read_timelines(self.stack.redis)

    def posts_of(self, reader):
        """Post ids in the reader's live timeline, newest first; None when it is not live."""
        timeline = read_timelines(self.stack.redis, {reader}).get(reader)
        return timeline and [post for _, post, _ in timeline.items]

    def take_out(self, reader, post):
        """Out of the reader's live timeline, behind everybody's back."""
        at, = self.stack.redis.command("KEYS", f"tl:*:{reader}")
        author, = [author for _, one, author in self.timelines()[reader].items if one == post]
        self.assertEqual(self.stack.redis.command("ZREM", at, member_of(post, author)), 1)

    def assert_exact(self, live=None):
        """Every live timeline is what the ledger says, and feedctl's audit finds the same.
        `live`: exactly the readers who must be live."""
        timelines = self.timelines()
        if live is not None:
            self.assertEqual(set(timelines), set(live))
        self.assertEqual(check_timelines(timelines, self.ledger), {})
        audit = self.feedctl.json("audit", "--json", codes=(0, 1))
        self.assertTrue(audit["good"], audit)
        self.assertEqual((audit["missing"], audit["extra"], audit["timelines"]),
                         (0, 0, len(timelines)))

    def ranges_hinted(self):
        """Ranges, of all events, whose hint is appended or who hold no follower of the author."""
        return sum(map(self.counter, ("fanline_hints_appended_total", "fanline_ranges_left_out_total")))

    def counter(self, name, **labels):
        return self.fleet.counters().total(name, **labels)

    def redis_losses(self):
        """How many ranges found that Redis had lost something of theirs, by cause."""
        counters = self.fleet.counters()
        return Counter({cause: int(counters.total("fanline_redis_losses_total", cause=cause))
                        for cause in ("behind", "older_than_log", "missing", "foreign")})

    def wait_for(self, predicate, what, timeout=120):
        return wait_until(predicate, timeout, what)


def most_followed(ledger, count=1):
    """The authors with the most followers, most first."""
    by_size = sorted(ledger.followers, key=lambda author: (-len(ledger.followers[author]), author))
    return by_size[:count]
