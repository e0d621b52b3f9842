"""Readers come back: their timelines are built from the truth, also while it changes."""

import time
import unittest

from demo.workload import Workload
from stack.programs.timelines import read_timelines
from tests.e2e.installation import USERS, Installation, most_followed

EVERYBODY = range(1, USERS + 1)


class Rebuild(Installation):
    def setUp(self):
        super().setUp()
        # Nobody is live, as if their timelines had expired.
        if timelines := self.stack.redis.command("KEYS", "tl:*"):
            self.stack.redis.command("DEL", *timelines)

    def test_a_reader_who_comes_back_finds_what_was_posted_meanwhile(self):
        author = most_followed(self.ledger)[0]
        posts = self.publish_all([author] * 5)
        self.settle()
        reader = min(self.ledger.followers[author])
        self.assertIsNone(self.posts_of(reader))
        self.make_live([reader])
        self.assertEqual(self.posts_of(reader)[:5], posts[::-1])
        self.assert_exact(live=[reader])

    def test_whoever_follows_nobody_has_an_empty_timeline_and_it_is_live(self):
        stranger = USERS + 1_000
        self.make_live([stranger])
        timeline = read_timelines(self.stack.redis)[stranger]
        self.assertEqual((timeline.items, timeline.floor), ([], 0))

    def test_a_live_timeline_is_left_as_it_is(self):
        self.make_live(EVERYBODY)
        before = self.timelines()
        self.make_live(EVERYBODY)
        self.assertEqual(self.timelines(), before)

    def test_all_rebuilt_while_posts_come_and_go_are_exact(self):
        workload = Workload(3, self.ledger.followers, first_post=1_000_000)
        events = [sending.event for sending in workload.events(3_000, time.time_ns() // 1_000_000)]
        rebuild = self.feedctl.start("activate", "--threads", 2, lines=EVERYBODY)
        self.send(events)
        rebuild.finish(300)
        self.settle()
        self.assert_exact(live=EVERYBODY)


if __name__ == "__main__":
    unittest.main()
