"""A pusher is told to leave while a celebrity's post is on its way: it leaves within a bound, and
nothing is read twice.

FANLINE_CELEBRITY: how many follow the celebrity (60,000).
"""

import os
import time
import unittest

from tests.e2e.installation import Installation, made_up_graph

CELEBRITY, FIRST_FOLLOWER = 5_000, 100_001
FOLLOWERS = int(os.environ.get("FANLINE_CELEBRITY", 60_000))
PAGE = 100 if FOLLOWERS < 1_000_000 else 5_000  # --followers-per-page; the latter is the default
LIVE = 2_000
# A page under way, positions, and the group: far below --drain-limit.
LEAVES_WITHIN_S = 5
# A call of Redis is given up after --redis-command-timeout, 2 s.
LEAVES_A_HANGING_REDIS_WITHIN_S = 10


class HandOver(Installation):
    pushers = 2
    pusher_args = ("--followers-per-page", PAGE)
    stack_options = {"mysql_args": [
        "--performance-schema=ON", "--performance-schema-instrument=wait/io/table/sql/handler=ON"]}

    @classmethod
    def made_graph(cls):
        return {**made_up_graph(),
                CELEBRITY: set(range(FIRST_FOLLOWER, FIRST_FOLLOWER + FOLLOWERS))}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.live = range(FIRST_FOLLOWER, FIRST_FOLLOWER + LIVE)
        cls.make_live(cls.live)

    def rows_read(self):
        """Of the table of followers, as its servers count them."""
        return sum(int(rows) for shard in self.stack.mysql for (rows,) in shard.query(
            "SELECT COUNT_FETCH FROM performance_schema.table_io_waits_summary_by_table"
            " WHERE OBJECT_NAME = 'follower'"))

    def leave_to(self, pusher):
        """It has all ranges."""
        for other in self.fleet.pushers:
            if other is not pusher and other.running:
                self.assertEqual(other.stop(), 0)
        self.wait_for(lambda: pusher.scrape().total("fanline_ranges_ready") == 16, "all ranges")
        self.settle()

    def read_so_far(self, pusher):
        return pusher.scrape().total("fanline_followers_read_total")

    def test_a_celebritys_followers_are_read_once_whoever_reads_them(self):
        old, new = self.fleet.pushers
        self.leave_to(old)
        read, done = self.rows_read(), self.read_so_far(old)
        self.publish(CELEBRITY)
        self.wait_for(lambda: self.read_so_far(old) >= done + FOLLOWERS / 6, "a sixth to be read")
        began = time.monotonic()
        self.assertEqual(old.stop(), 0)
        self.assertLess(time.monotonic() - began, LEAVES_WITHIN_S)
        half = self.rows_read() - read
        new.start().wait_ready()
        self.settle()
        whole = self.rows_read() - read

        print(f"{half:,} of {FOLLOWERS:,} rows were read by the old owner, {whole:,} in all")
        self.assertLess(half, 0.9 * FOLLOWERS, "nothing was left to hand over")
        self.assertGreater(new.scrape().total("fanline_units_taken_up_total", **{"from": "page"}), 0)
        self.assertLessEqual(whole, 1.2 * FOLLOWERS)
        self.assert_exact(live=self.live)
        old.start().wait_ready()

    def test_a_pusher_leaves_a_redis_that_hangs(self):
        old, new = self.fleet.pushers
        self.leave_to(old)
        done = self.read_so_far(old)
        self.publish(CELEBRITY)
        self.wait_for(lambda: self.read_so_far(old) > done, "it to be under way")
        self.stack.redis.pause()
        self.addCleanup(self.stack.redis.resume)
        began = time.monotonic()
        self.assertEqual(old.stop(), 0)
        self.assertLess(time.monotonic() - began, LEAVES_A_HANGING_REDIS_WITHIN_S)
        self.stack.redis.resume()
        new.start().wait_ready()
        self.settle()
        self.assert_exact(live=self.live)
        old.start().wait_ready()
