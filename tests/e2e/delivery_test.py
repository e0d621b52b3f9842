"""What an application tells its readers see: posts, hides, whatever their order."""

import random
import time
import unittest

from demo.workload import Event
from tests.e2e.installation import USERS, Installation, most_followed

WINDOW, TRIMMED_ABOVE = 450, 496
HOUR_MS = 3_600_000


class Delivery(Installation):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.live = set(range(1, USERS + 1, 3))
        cls.ann, = most_followed(cls.ledger, 1)
        cls.feedctl.run("activate", lines=sorted(cls.live))

    def setUp(self):
        super().setUp()
        self.readers = self.ledger.followers[self.ann] & self.live
        self.reader = min(self.readers)

    def test_a_post_reaches_every_live_follower_and_nobody_else(self):
        post = self.publish(self.ann)
        self.settle()
        have = {reader for reader, timeline in self.timelines().items()
                if post in [other for _, other in timeline.items]}
        self.assertEqual(have, self.readers)
        self.assert_exact(live=self.live)

    def test_a_reader_who_is_not_live_is_skipped_and_gets_no_timeline(self):
        skipped = self.counter("fanline_deliveries_total", result="not_live_index")
        self.publish(self.ann)
        self.settle()
        not_live = len(self.ledger.followers[self.ann] - self.live)
        self.assertGreater(not_live, 0)
        self.assertEqual(self.counter("fanline_deliveries_total", result="not_live_index"),
                         skipped + not_live)
        self.assertEqual(set(self.timelines()), self.live)

    def test_a_hidden_post_is_away_until_it_is_shown_again(self):
        post = self.publish(self.ann)
        self.hide(self.ann, post, version=1)
        self.settle()
        self.assertNotIn(post, self.posts_of(self.reader))
        self.unhide(self.ann, post, version=2)
        self.settle()
        self.assertEqual(self.posts_of(self.reader)[0], post)
        self.hide(self.ann, post, version=1)  # late: overtaken by the second
        self.settle()
        self.assertEqual(self.posts_of(self.reader)[0], post)
        self.assert_exact(live=self.live)

    def test_events_leave_the_same_in_any_order_and_twice(self):
        now = time.time_ns() // 1_000_000
        events = []
        for number, author in enumerate(random.Random(5).choices(range(1, USERS + 1), k=100)):
            post = next(self.post_ids)
            events += [Event("published", post, author, now + number)] * 2
            events += [Event("deleted", post, author)] * (number % 3 == 0)
            events += [Event("hidden", post, author, version=1)] * (number % 5 == 0)
            events += [Event("unhidden", post, author, version=2)] * (number % 10 == 0)
        random.Random(6).shuffle(events)
        self.send(events)
        self.settle()
        self.assert_exact(live=self.live)

    def test_a_post_told_late_takes_the_place_of_its_time(self):
        now = time.time_ns() // 1_000_000
        newer = self.publish(self.ann, created_at_ms=now)
        older = self.publish(self.ann, created_at_ms=now - HOUR_MS)
        newest = self.publish(self.ann, created_at_ms=now + 1)
        self.settle()
        posts = self.posts_of(self.reader)
        self.assertEqual([post for post in posts if post in (older, newer, newest)],
                         [newest, newer, older])
        self.assert_exact(live=self.live)

    def test_a_timeline_that_overflows_keeps_its_newest(self):
        quiet = min(self.ledger.followers, key=lambda author: (
            len(self.ledger.followers[author] & self.live) or USERS, author))
        reader = min(self.ledger.followers[quiet] & self.live)
        posts = self.publish_all([quiet] * (TRIMMED_ABOVE + 20))
        self.settle()
        timeline = self.timelines()[reader]
        self.assertEqual([post for _, post in timeline.items[:WINDOW]], posts[:-WINDOW - 1:-1])
        self.assertLessEqual(len(timeline.items), TRIMMED_ABOVE)
        self.assertGreater(timeline.floor, 0)
        self.assert_exact(live=self.live)


if __name__ == "__main__":
    unittest.main()
