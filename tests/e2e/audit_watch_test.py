"""Timelines that somebody broke: `feedctl audit --watch` sees it, `feedctl audit --repair` sets it
right, beside writers that go on, and the watch sees that too."""

import math
import re
import time
import unittest

from stack.programs.timelines import item
from stack.programs.watch import Watch
from tests.e2e.meanwhile import again_and_again
from tests.e2e.reading import Reading

READERS = range(1, 13)
ANN, EVE = AUTHORS = 101, 102
MISSES = "fanline_audit_misses_per_10000"


class BrokenTimelines(Reading):
    pushers = 2

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.watch = Watch(cls.stack, cls.ports, args=(
            "--watch-every", "200ms", "--watch-readers", "20", "--watch-again-after", "2s")).start()
        cls.watch.wait_ready()

    @classmethod
    def made_graph(cls):
        return {author: set(READERS) for author in AUTHORS}

    def setUp(self):
        super().setUp()
        self.publish_all([ANN, EVE] * 5)
        self.settle()
        self.make_live(READERS)

    def watched(self, name, **labels):
        return self.watch.scrape().total(name, **labels)

    def key_of(self, reader):
        key, = self.stack.redis.command("KEYS", f"tl:*:{reader}")
        return key

    def broken(self, reader):
        """Without its newest post."""
        self.take_out(reader, self.posts_of(reader)[0])

    def repair(self, *words, codes=(0,)):
        return self.feedctl.json("audit", "--repair", "--repair-after", "2s", "--json", *words, codes=codes)

    def assert_no_miss(self):
        """Of the next looks of all that compare something: a look at nobody says nothing."""
        said = []
        self.wait_for(lambda: said.append(self.watched(MISSES)) or not math.isnan(said[-1]),
                      "somebody to be compared")
        self.assertEqual(said[-1], 0)

    def test_a_miss_is_seen_repaired_and_seen_to_be_gone(self):
        self.wait_for(lambda: self.watched("fanline_audit_timelines_total", result="good") >= len(READERS),
                      "everybody to be looked at")
        self.wait_for(lambda: self.watched(MISSES) == 0, "somebody to be compared")
        self.broken(3)
        self.broken(4)
        surplus = self.key_of(5)
        self.stack.redis.command("ZADD", surplus, *item(1_700_000_000_000, 999_999, 1))
        self.wait_for(lambda: self.watched("fanline_audit_wrong_timelines") == 3, "all to be found")
        self.assertGreater(self.watched(MISSES), 0)
        self.assertEqual(self.watched("fanline_audit_missing_total"), 2)
        self.assertEqual(self.watched("fanline_audit_surplus_total"), 1)
        log = "".join(path.read_text() for path in self.stack.logs.glob("watch*.log"))
        self.assertEqual(set(re.findall(r'"reader":"(\d+)","differences":1', log)), {"3", "4", "5"})
        time.sleep(1)
        self.assertEqual(self.watched("fanline_audit_missing_total"), 2, "each once")

        audit = self.repair()
        self.assertEqual((audit["missing"], audit["extra"], audit["good"]), (2, 1, True))
        self.assertEqual(audit["repair"], {"wrong": 3, "in_flight": 0, "rebuilt": 3, "left": 0,
                                           "still_wrong": 0})
        self.assert_exact(READERS)
        self.wait_for(lambda: self.watched("fanline_audit_wrong_timelines") == 0, "it to be seen")
        self.assert_no_miss()
        self.assertGreater(self.watched("fanline_audit_last_round_timestamp_seconds"), time.time() - 60)

    def test_keys_that_are_no_timeline_and_readers_whom_the_index_lacks_are_repaired(self):
        key, other = self.key_of(6), self.key_of(7)
        self.stack.redis.command("DEL", key)
        self.stack.redis.command("SET", key, "no timeline")
        self.stack.redis.command("ZREM", f"live:{re.search('{.*}', other)[0]}", 7)
        audit = self.repair()
        self.assertEqual((audit["malformed"], audit["not_indexed"]), (1, 1))
        self.assertEqual((audit["repair"]["rebuilt"], audit["good"]), (2, True))
        self.assert_exact(READERS)

    def test_a_version_of_the_mutes_that_a_timeline_lost_is_found_and_repaired(self):
        reader, path = 10, f"/v1/users/10/mutes/{EVE}"
        key = self.key_of(reader)

        def named():
            return [member for member in self.stack.redis.command("ZRANGE", key, 0, 5) if str(member).startswith("M")]

        def unmuted():
            self.assertEqual(self.client.ask("DELETE", path).status, 200)
            self.wait_for(lambda: not named(), "the timeline to be told")

        self.assertEqual(self.client.ask("PUT", path).status, 200)
        self.addCleanup(unmuted)
        self.wait_for(named, "the timeline to be told")
        self.stack.redis.command("ZREM", key, *named())
        self.wait_for(lambda: self.watched("fanline_audit_wrong_timelines") == 1, "it to be found")
        audit = self.repair()
        self.assertEqual((audit["wrong_mutes"], audit["repair"]["rebuilt"], audit["good"]), (1, 1, True))
        self.assertTrue(named())
        self.wait_for(lambda: self.watched("fanline_audit_wrong_timelines") == 0, "it to be seen")

    def test_beside_writers_only_what_is_wrong_is_repaired(self):
        self.broken(8)
        key = self.key_of(9)
        self.stack.redis.command("PEXPIRE", key, 86_400_000)
        with again_and_again(lambda: self.publish_all([ANN, EVE]), 0.02):
            audit = self.repair()
        self.assertEqual(audit["repair"]["rebuilt"], 1, audit)
        self.assertLessEqual(int(self.stack.redis.command("PTTL", key)), 86_400_000, "not touched")
        self.settle()
        self.assert_exact(READERS)
        self.wait_for(lambda: self.watched("fanline_audit_wrong_timelines") == 0, "it to be seen")
        self.assert_no_miss()
