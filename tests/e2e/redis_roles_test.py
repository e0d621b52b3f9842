"""Two nodes of Redis change their roles by hand, and the pusher is the last to hear of it: its way
leads to the node that was the master, while readers come to the one that is. Posts arrive all the
while."""

import itertools
import time
import unittest

from stack.programs.timelines import read_timelines
from stack.programs.watch import Watch
from stack.services.redis import Redis
from stack.wire.holding_proxy import HoldingProxy
from tests.e2e.installation import USERS, Installation, made_up_graph
from tests.e2e.meanwhile import publishing, reading

EVERYBODY = range(1, USERS + 1)
# Author -> followers who were never live before their test.
NEWCOMERS = {author: range(100 * author, 100 * author + 32) for author in range(1_001, 1_007)}
# What a pusher sends when it asks for news, when it asks who its node is, and when it moves pos: on.
NEWS, IDENTITY, POSITION = b"live:{", b"replication\r\n", b"pos:{"
AT_ONCE = ["--repl-diskless-sync-delay", "0"]


class RolesChange(Installation):
    stack_options = {"redis_args": AT_ONCE}
    # A post that is measured writes a mark, which a replica refuses as it refuses news.
    sample_rate = "0"

    @classmethod
    def made_graph(cls):
        return {**made_up_graph(), **{author: set(readers) for author, readers in NEWCOMERS.items()}}

    @classmethod
    def prepare_services(cls):
        cls.master = cls.stack.redis
        cls.replica = cls.stack.add(lambda *places: Redis("redis2", *places, args=AT_ONCE))
        cls.way, cls.copying = (HoldingProxy(cls.ports.take(), cls.master.port) for _ in range(2))
        for proxy in (cls.way, cls.copying):
            cls.addClassCleanup(proxy.close)
        cls.pusher_args = ["--redis", cls.way.address, "--redis-command-timeout", "20s"]
        cls.follow(cls.replica, cls.master.port)
        cls.watches = itertools.count(1)

    def setUp(self):
        super().setUp()
        self.way.release()
        self.copying.release()
        self.make_live(EVERYBODY)
        self.publish_all([*EVERYBODY, *NEWCOMERS])
        self.settle()

    # ---- the roles -----------------------------------------------------------------------------

    @staticmethod
    def follow(node, port):
        node.command("REPLICAOF", "127.0.0.1", port)

    def promote(self):
        """The replica is a master too from now on, and readers come to it. Returns the former one."""
        self.wait_for(self.is_copied, "the replica to have everything")
        self.replica.command("REPLICAOF", "NO", "ONE")
        type(self).master, type(self).replica = self.replica, self.master
        self.stack.told = {"FANLINE_REDIS": self.master.address}
        return self.replica

    def is_copied(self):
        return (said(self.replica, "master_link_status") == "up"
                and said(self.replica, "slave_repl_offset") == said(self.master, "master_repl_offset"))

    def positions(self):
        with self.master.client() as client:
            return {key: client.command("GET", key) for key in client.command("KEYS", "pos:*")}

    def wait_saved(self):
        """Until the time in each pos: was moved on. Without posts it stands still for five seconds."""
        before = self.positions()
        self.wait_for(lambda: all(before[key] != now for key, now in self.positions().items()),
                      "every position to be saved")

    # ---- readers -------------------------------------------------------------------------------

    def timelines(self):
        return read_timelines(self.master)

    def forget(self, readers):
        """As if their timelines had expired."""
        with self.master.client() as client:
            for key in client.command("KEYS", "tl:*"):
                if int(key.rsplit(":", 1)[1]) in readers:
                    client.command("DEL", key)

    def assert_nobody_lacks_anything(self, *newcomers):
        """What the ledger, the audit and the watch say of everybody, and of these authors' followers."""
        self.make_live(EVERYBODY)
        self.settle()
        self.assert_exact()
        live = set(self.timelines())
        self.assertLessEqual({*EVERYBODY, *itertools.chain(*map(NEWCOMERS.get, newcomers))}, live)
        watch = Watch(self.stack, self.ports, f"watch-{next(self.watches)}",
                      ("--watch-every", "100ms", "--watch-readers", "100")).start()
        self.wait_for(lambda: watch.status("/readyz") == 200 and watch.scrape().total(
            "fanline_audit_timelines_total", result="good") >= len(live), "everybody to be looked at")
        self.assertEqual(watch.scrape().total("fanline_audit_misses_per_10000"), 0)
        self.assertEqual(watch.scrape().total("fanline_audit_wrong_timelines"), 0)
        watch.stop()

    # ---- tests ---------------------------------------------------------------------------------

    def test_while_its_node_is_a_replica_nobody_who_comes_back_is_passed_over(self):
        """Held by news.lua, which a replica refuses: a write in name."""
        told = any(self.is_told_by_news(author) for author in list(NEWCOMERS)[:4])
        self.assertTrue(told, "the pusher noticed by other means than news")

    def is_told_by_news(self, author):
        """The pusher's node is a replica for a while, and does not hear of those who come meanwhile
        before its pusher has asked it. Whether this is how the pusher noticed: it may have asked
        first who the node is."""
        self.wait_saved()
        former = self.promote()
        self.make_live(NEWCOMERS[author])
        self.copying.lead(self.master.port)
        self.copying.hold_from(b"PSYNC")
        self.way.hold_from(NEWS)
        self.publish(author)
        self.wait_for(lambda: self.way.holding, "the pusher to ask for news")
        self.follow(former, self.copying.port)
        self.way.hold_from(IDENTITY, POSITION)
        self.wait_for(lambda: self.way.holding, "the pusher to have done what it can")
        told = b"-READONLY" in self.way.answered()

        with publishing(self, EVERYBODY):
            self.forget(EVERYBODY[::3])
            with reading(self, EVERYBODY):
                time.sleep(1)
            self.copying.release()
            new = self.promote()
            self.follow(new, self.master.port)
            self.way.release()
        self.settle()
        self.assert_nobody_lacks_anything(author)
        return told

    def test_readers_who_are_at_the_new_master_before_the_pusher_lack_nothing(self):
        """Held by pos:, which is behind there, and by claims, which forget who was live at the former
        master: both masters give the same numbers to different readers."""
        here, there = list(NEWCOMERS)[4:]
        before = self.redis_losses()
        former = self.promote()
        self.stack.told = {"FANLINE_REDIS": former.address}
        self.make_live(NEWCOMERS[here])
        self.stack.told = {"FANLINE_REDIS": self.master.address}
        self.make_live(NEWCOMERS[there])
        self.make_live(NEWCOMERS[here])
        self.forget(EVERYBODY[::3])
        with publishing(self, EVERYBODY), reading(self, EVERYBODY):
            time.sleep(1.5)  # positions are saved once a second
        self.publish_all([here, there])
        self.settle()
        with publishing(self, EVERYBODY), reading(self, EVERYBODY):
            self.way.lead(self.master.port)
            self.follow(former, self.master.port)
            self.wait_for(lambda: (self.redis_losses() - before)["behind"] >= self.ranges,
                          "every range to be taken over at the new master")
        self.settle()
        self.assert_nobody_lacks_anything(here, there)


def said(node, field):
    """A line of INFO replication."""
    lines = node.command("INFO", "replication").splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line).get(field)
