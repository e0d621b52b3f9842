"""Daemons die, hang and leave; others go on, and nothing is lost or brought back."""

import random
import time
import unittest

from stack.programs.backlog import Backlog
from stack.programs.daemon import Daemon
from stack.programs.fleet import FEED
from stack.wire.holding_proxy import HoldingProxy
from tests.e2e.installation import SESSION, USERS, Installation

EVERYBODY = range(1, USERS + 1)
DRAIN_LIMIT_S = 20  # --drain-limit


class TwoOfEach(Installation):
    dispatchers = 2
    pushers = 2

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.make_live(EVERYBODY)
        cls.authors = random.Random(8)

    def post_many(self, count=400):
        """Posts of drawn authors, every fourth deleted again."""
        authors = self.authors.choices(EVERYBODY, k=count)
        posts = self.publish_all(authors)
        for author, post in list(zip(authors, posts))[::4]:
            self.delete(author, post)

    def wait_until_ranges(self, owned, timeout=120):
        self.wait_for(lambda: [pusher.scrape().total("fanline_ranges_ready") if pusher.running
                               else 0 for pusher in self.fleet.pushers] == owned,
                      f"the ranges to be shared as {owned}", timeout)

    def test_a_zombie_pusher_writes_late_and_changes_nothing(self):
        proxy = HoldingProxy(self.ports.take(), self.stack.redis.port)
        self.addCleanup(proxy.close)
        zombie = Daemon(self.stack, self.ports, "fanline-pusher", "zombie-pusher",
                        [*SESSION, "--redis", proxy.address, "--redis-command-timeout", "50s"])
        zombie.start()
        self.addCleanup(lambda: zombie.running and zombie.stop())
        ranges = self.wait_for(lambda: self.all_shared_with(zombie), "the third to get its ranges")

        # It has read that the posts are there. Its writes are on their way when it hangs.
        proxy.hold_from(b"tl:{")
        posts = self.publish_all(EVERYBODY)
        self.wait_for(lambda: proxy.holding, "its writes to be under way")
        zombie.pause()
        for author, post in zip(EVERYBODY, posts):
            self.delete(author, post)
        self.post_many()
        self.wait_until_ranges([8, 8])
        self.settle()
        self.assert_exact(live=EVERYBODY)

        proxy.release()
        self.wait_for(lambda: b"-FENCED" in proxy.answered(), "its writes to arrive")
        self.assert_exact(live=EVERYBODY)

        zombie.resume()
        self.wait_for(lambda: zombie.scrape().total("fanline_fenced_writes_total"),
                      "it to learn that it was refused")
        self.assertEqual(self.wait_for(lambda: self.all_shared_with(zombie),
                                       "the third to get ranges again"), ranges)
        self.assert_exact(live=EVERYBODY)
        done = zombie.scrape().total("fanline_hints_done_total")
        self.post_many()
        self.settle()
        self.assert_exact(live=EVERYBODY)
        self.assertGreater(zombie.scrape().total("fanline_hints_done_total"), done)
        self.assertEqual(zombie.stop(), 0)
        self.wait_until_ranges([8, 8])

    def all_shared_with(self, third):
        """How many ranges the third pusher has, once every range is claimed; else 0."""
        owned = [pusher.scrape().total("fanline_ranges_ready") if pusher.status("/healthz") else 0
                 for pusher in (third, *self.fleet.pushers)]
        return owned[0] if sum(owned) == 16 and all(owned) else 0

    def test_a_zombie_dispatcher_appends_late_and_changes_nothing(self):
        # What it learns first when it goes on is the machine's choice: that its transactions are
        # committed, or that its events are another's, and then it appends nothing.
        self.assertTrue(any(self.a_dispatcher_hangs() for _ in range(8)), "it appended nothing")

    def a_dispatcher_hangs(self):
        """Returns whether it appended late. Nothing is changed by it."""
        zombie = self.fleet.dispatchers[0]
        log = Backlog(self.stack.kafka.address, "fanline-dispatcher", FEED)
        self.addCleanup(log.close)

        # Its transactions are on their way when it hangs; they are committed while it does.
        for shard in self.stack.mysql:
            shard.pause()
            self.addCleanup(shard.resume)
        sent = zombie.scrape().total("fanline_transaction_events_count")
        self.post_many()
        self.wait_for(lambda: zombie.scrape().total("fanline_transaction_events_count") > sent,
                      "its transactions to be under way")
        appended = zombie.scrape().total("fanline_hints_appended_total")
        zombie.pause()
        self.addCleanup(zombie.resume)
        for shard in self.stack.mysql:
            shard.resume()
        self.post_many()
        self.wait_for(lambda: self.fleet.backlog() == 0, "the other to do the work")
        self.assert_exact(live=EVERYBODY)
        committed = log.committed()

        zombie.resume()
        zombie.wait_ready()
        self.settle()
        late = zombie.scrape().total("fanline_hints_appended_total") > appended
        self.assert_exact(live=EVERYBODY)
        self.assertEqual(log.committed(), committed, "a late commit moved the group")
        work = self.events_done()
        self.wait_for(lambda: self.post_many(20) or all(map(int.__gt__, self.events_done(), work)),
                      "both to be given events again")
        self.settle()
        self.assert_exact(live=EVERYBODY)
        return late

    def events_done(self):
        return [int(dispatcher.scrape().total("fanline_events_done_total"))
                for dispatcher in self.fleet.dispatchers]

    def test_a_daemon_told_to_leave_finishes_in_time_and_hands_over_at_once(self):
        for daemon in (self.fleet.pushers[1], self.fleet.dispatchers[1]):
            with self.subTest(daemon.name):
                self.post_many()
                begin = time.monotonic()
                self.assertEqual(daemon.stop(), 0, daemon.name)
                self.assertLess(time.monotonic() - begin, DRAIN_LIMIT_S)
                self.settle()
                self.assert_exact(live=EVERYBODY)
                daemon.start().wait_ready()
        self.wait_until_ranges([8, 8])
