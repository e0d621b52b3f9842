"""An installation of 64 ranges: hints go only where an author has followers, and nobody who begins to
follow meanwhile misses a post."""

import threading
import unittest

from tests.e2e.installation import Installation

RANGES = 64
QUIET, READERS = 9_001, range(8_001, 8_004)  # followed by three, who are live
RACED = range(9_101, 9_111)                  # followed by nobody, at first
RACERS = range(8_101, 8_111)


class EmptyRanges(Installation):
    ranges = RANGES
    dispatchers = 2
    mirrors = 1

    def hints(self):
        return self.counter("fanline_hints_appended_total")

    def import_edges(self, edges):
        graph = self.stack.logs / "more.txt"
        graph.write_text("".join(f"{reader} {author}\n" for reader, author in edges))
        said = self.feedctl.json("import", graph, "--json")
        for reader, author in edges:
            self.ledger.follow(reader, author)
        return said

    def test_an_author_of_three_followers_is_hinted_to_their_ranges_only(self):
        said = self.import_edges([(reader, QUIET) for reader in READERS])
        self.assertEqual(said["hints"], len(READERS), "pushers own the ranges: every edge is hinted")
        self.settle()
        self.make_live(READERS)
        before, left_out = self.hints(), self.counter("fanline_ranges_left_out_total")
        post = self.publish(QUIET)
        self.settle()
        hints = self.hints() - before
        self.assertGreaterEqual(hints, 1)
        self.assertLessEqual(hints, len(READERS))
        self.assertEqual(self.counter("fanline_ranges_left_out_total") - left_out, RANGES - hints)
        for reader in READERS:
            self.assertEqual(self.posts_of(reader), [post])
        self.assertEqual(self.counter("fanline_followers_unread_total"), 0)
        self.wait_for(lambda: self.counter("fanline_publish_to_last_delivery_seconds_count") >= 1,
                      "the last of fewer parts than ranges to be observed")

    def follow_all(self):
        for reader in RACERS:
            for author in RACED:
                self.change_relation(reader, author, True)

    def test_follows_that_race_with_posts_miss_nothing(self):
        self.import_edges([(reader, 9_100) for reader in RACERS])
        self.settle()
        self.make_live(RACERS)
        racer = threading.Thread(target=self.follow_all)
        racer.start()
        posts = 0
        while racer.is_alive() or posts == 0:
            self.publish_all(RACED)
            posts += 1
            racer.join(0.05)
        racer.join()
        self.wait_mirrored()
        for reader in RACERS:
            for author in RACED:
                self.ledger.follow(reader, author)
        self.settle()
        self.assertGreater(self.counter("fanline_ranges_left_out_total"), 0)
        self.assert_exact()
