"""Reposts of a post that was deleted for good are deleted, too: out of outboxes and live timelines, by ordinary
events. Those of posts that are hidden or seen stay."""

import time
import unittest

from demo.workload import Event
from stack.programs.daemon import Daemon
from tests.e2e.installation import SESSION
from tests.e2e.reading import Reading

READERS, REPOSTERS, ANN = range(1, 9), range(1001, 1201), 501
EACH = 20  # reposts by each of them, of the post that is deleted
FOLLOWED = 15  # of them, by a reader


class RepostSweep(Reading):
    dispatchers = 2
    pushers = 2

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.reconciler = Daemon(cls.stack, cls.ports, "fanline-reconciler", "reconciler", SESSION)

    @classmethod
    def made_graph(cls):
        follows = {reader: {REPOSTERS[(reader * 7 + nth * 11) % len(REPOSTERS)] for nth in range(FOLLOWED)}
                   for reader in READERS}
        return {ANN: set(READERS), **{user: {reader for reader in READERS if user in follows[reader]}
                                      for user in REPOSTERS}}

    def repost(self, original, users, times=1):
        """Their ids."""
        now = time.time_ns() // 1_000_000
        events = [Event("published", next(self.post_ids), user, now + nth, repost_of=(original, ANN))
                  for nth in range(times) for user in users]
        self.send(events)
        return [event.post for event in events]

    def number(self, sql):
        return sum(int(server.query(sql)[0][0]) for server in self.stack.mysql)

    def left(self, original):
        return self.number(f"SELECT COUNT(*) FROM author_post WHERE original_id = {original} AND deleted = 0")

    def held(self):
        """All that live timelines hold."""
        return {post for timeline in self.timelines().values() for _, post, _ in timeline.items}

    def test_reposts_of_a_deleted_post_leave_outboxes_and_timelines(self):
        gone, seen, hidden = self.publish_all([ANN] * 3)
        reposts = self.repost(gone, REPOSTERS, EACH)
        stay = self.repost(seen, REPOSTERS[:40]) + self.repost(hidden, REPOSTERS[:40])
        self.hide(ANN, hidden, 1)
        self.settle()
        self.make_live(READERS)
        self.assert_exact(live=READERS)
        self.assertEqual(self.left(gone), len(reposts))

        deleted = self.client.delete(f"/v1/posts/{gone}?author_id={ANN}")
        self.assertEqual(deleted.status, 202, deleted.text)
        self.ledger.apply(Event("deleted", gone, ANN))
        self.settle()
        self.assertTrue(self.held() & set(reposts), "pages leave them out, timelines do not")

        self.reconciler.start().wait_ready()
        self.wait_for(lambda: self.left(gone) < len(reposts), "the first to be deleted")
        began, before = time.monotonic(), self.left(gone)
        self.wait_for(lambda: self.left(gone) == 0, "all to be deleted")
        took = time.monotonic() - began
        print(f"{before:,} reposts deleted in {took:.2f} s: {before / took:,.0f}/s", flush=True)
        for post in reposts:
            self.ledger.apply(Event("deleted", post, self.ledger.author_of(post)))
        self.wait_for(lambda: self.number(f"SELECT COUNT(*) FROM repost WHERE original_id = {gone}") == 0, "their rows")
        self.settle()
        self.assertFalse(self.held() & set(reposts))
        self.assertTrue(self.held() & set(stay))
        self.assert_exact(live=READERS)
        self.assertEqual(self.number(f"SELECT COUNT(*) FROM repost WHERE original_id IN ({seen}, {hidden})"), len(stay))
        self.wait_for(lambda: self.reconciler.scrape().total("fanline_reposts_swept_timestamp_seconds"), "the end")
        counters = self.reconciler.counters()
        self.assertEqual(counters.total("fanline_reposts_deleted_total"), len(reposts))
        self.assertGreaterEqual(counters.total("fanline_repost_rows_swept_total"), len(stay))

        # Shown again, the hidden one brings its reposts back.
        self.unhide(ANN, hidden, 2)
        self.settle()
        for reader in READERS:
            self.wait_for(lambda: self.walk(f"{reader}/timeline", 50) == self.expected(reader), "the page")


if __name__ == "__main__":
    unittest.main()
