"""Daemons die, hang and leave; others go on, and nothing is lost or brought back."""

import random
import time
import unittest

from tests.e2e.installation import USERS, Installation

EVERYBODY = range(1, USERS + 1)
DRAIN_LIMIT_S = 20  # --drain-limit


class TwoOfEach(Installation):
    dispatchers = 2
    pushers = 2

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.feedctl.run("activate", "--threads", 2, lines=EVERYBODY)
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

    def test_two_pushers_share_the_ranges(self):
        self.wait_until_ranges([8, 8])
        self.post_many()
        self.settle()
        done = [pusher.counters().total("fanline_hints_done_total")
                for pusher in self.fleet.pushers]
        self.assertTrue(all(done), done)
        self.assert_exact(live=EVERYBODY)

    def test_a_pusher_killed_at_work_is_replaced_by_the_other(self):
        victim = self.fleet.pushers[0]
        self.post_many()
        victim.kill()
        self.post_many()
        self.settle()
        self.wait_until_ranges([0, 16])
        self.assert_exact(live=EVERYBODY)
        victim.start()
        self.wait_until_ranges([8, 8])

    def test_a_pusher_that_hangs_is_replaced_and_does_no_harm_when_it_wakes(self):
        sleeper, other = self.fleet.pushers
        self.post_many()
        sleeper.pause()
        self.addCleanup(sleeper.resume)
        self.post_many()
        self.wait_for(lambda: other.scrape().total("fanline_ranges_ready") == 16,
                      "the other to own all ranges")
        self.post_many()
        self.wait_for(lambda: self.fleet.backlog() == 0, "the other to do the work")
        self.assert_exact(live=EVERYBODY)
        sleeper.resume()
        self.wait_until_ranges([8, 8])
        self.post_many()
        self.settle()
        self.assert_exact(live=EVERYBODY)

    def test_a_dispatcher_killed_at_work_is_replaced_by_the_other(self):
        victim = self.fleet.dispatchers[0]
        self.post_many()
        victim.kill()
        self.post_many()
        self.settle()
        self.assert_exact(live=EVERYBODY)
        victim.start().wait_ready()

    def test_a_dispatcher_that_hangs_is_replaced_and_does_no_harm_when_it_wakes(self):
        sleeper = self.fleet.dispatchers[0]
        self.post_many()
        sleeper.pause()
        self.addCleanup(sleeper.resume)
        self.post_many()
        self.wait_for(lambda: self.fleet.backlog() == 0, "the other to do the work")
        self.assert_exact(live=EVERYBODY)
        sleeper.resume()
        sleeper.wait_ready()
        self.post_many()
        self.settle()
        self.assert_exact(live=EVERYBODY)

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


if __name__ == "__main__":
    unittest.main()
