"""A forward shard that lost its rows is rebuilt from the reverse rows: counted first, killed in the middle, gone on
with, while users follow and unfollow. And what is older than the tombstones that were collected is refused."""

import itertools
import os
import signal
import threading
import time
import unittest

from stack.programs.feedctl import FeedctlFailed
from stack.programs.relations import Relations
from tests.e2e.installation import Installation
from tests.e2e.relations import shard_of

WIPED = 1
RESTORE = ("relations", "restore-forward", WIPED)
ROWS = "SELECT src, dst, ver, state, pos, delivery FROM following"
COUNTERS = "SELECT user_id, following_cnt FROM user_rel WHERE following_cnt <> 0"


class Busy:
    """Users beyond the graph who follow authors of it, and unfollow some, until it is left. Their rows lie on both
    shards."""

    def __init__(self, relations, authors):
        self.followed = []  # (user, author), in the end
        self._relations, self._authors = relations, authors
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._go_on)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def _go_on(self):
        for user, author in zip(itertools.count(20_001), itertools.cycle(self._authors)):
            self._relations.change(user, author, True)
            if user % 3 == 0:
                self._relations.change(user, author, False)
            else:
                self.followed.append((user, author))
            if self._stop.wait(0.02):
                return


class RestoreForward(Installation):
    ranges = 4
    mirrors = 1

    def setUp(self):
        super().setUp()
        self.server = self.stack.mysql[WIPED]
        self.relations = Relations(self.stack.mysql)

    def of_the_shard(self, statement):
        return set(map(tuple, self.server.query(statement)))

    def count(self, table):
        return int(self.server.query(f"SELECT COUNT(*) FROM {table}")[0][0])

    def readers_of_the_shard(self):
        """Those who follow somebody, of the graph."""
        return sorted({reader for reader, _ in self.ledger.edges() if shard_of(reader) == WIPED})

    def restore(self, *words, codes=(0,)):
        return self.feedctl.json(*RESTORE, "--json", *words, codes=codes)

    def test_a_wiped_shard_comes_back_while_users_follow(self):
        readers = self.readers_of_the_shard()
        self.assertGreater(len(readers), 20)
        followed = sorted({author for reader, author in self.ledger.edges() if reader in readers[:6]})
        self.publish_all(followed)
        ended = [edge for edge in sorted(self.ledger.edges()) if edge[0] in readers[6:16]][:8]
        for reader, author in ended:
            self.unfollow(reader, author)
        reader, author = next(edge for edge in sorted(self.ledger.edges()) if edge[0] == readers[20])
        for shard, table in ((WIPED, "following"), (shard_of(author), "follower")):
            self.stack.mysql[shard].query(f"UPDATE {table} SET delivery = 1 WHERE src = {reader} AND dst = {author}")
        self.settle()
        before, counters = self.of_the_shard(ROWS), self.of_the_shard(COUNTERS)
        for table in ("following", "user_rel", "range_owner"):  # who owned ranges is forgotten, too
            self.server.query(f"DELETE FROM {table}")
        self.make_live(readers[:3])  # their timelines are built of no followed author at all

        told = self.restore(codes=(1,))
        self.assertEqual((told["made"], told["raised"], told["equal"], told["complete"]), (len(before), 0, 0, True))
        self.assertEqual((told["of_shard"], told["hints"], self.count("following")), (len(before), 0, 0))

        with Busy(self.relations, followed[:5]) as busy:
            killed = self.feedctl.start(*RESTORE, "--apply", "--rate", 200)
            self.wait_for(lambda: self.count("forward_restore") > 0 and self.count("following") > 100, "some pages")
            killed.interrupt(signal.SIGKILL)
            self.wait_for(lambda: not killed.running, "its end")
            rows = {row[:2] for row in self.of_the_shard(ROWS)}
            self.assertLess(len(rows & {row[:2] for row in before}), len(before), "killed in the middle")
            told = self.restore("--apply")
            self.assertTrue(told["resumed"] and told["complete"])
            self.assertLess(told["read"], len(self.relations.reverse()), "the first pages are passed")
        self.wait_mirrored()
        for edge in busy.followed:
            self.ledger.follow(*edge)

        after = self.of_the_shard(ROWS)
        self.assertEqual(before - after, set())
        self.assertTrue(all(int(row[0]) > 20_000 for row in after - before), "the rest is of the busy users")
        self.assertEqual(self.relations.forward(), self.relations.reverse())
        self.assertEqual(self.relations.wrong_counters(), [])
        self.assertEqual(counters - self.of_the_shard(COUNTERS), set())
        self.settle()
        self.assert_exact()

        self.assertEqual(self.count("forward_restore"), 0)
        told = self.restore("--apply")
        self.assertEqual((told["resumed"], told["made"], told["raised"], told["equal"]), (False, 0, 0, len(after)))
        told = self.restore()
        self.assertEqual(told["made"] + told["raised"], 0)

    def test_what_is_not_a_shard_is_refused(self):
        for words in (("2",), ("one",), (WIPED, "--anew"), (WIPED, "--apply", "--dry-run")):
            self.feedctl.start("relations", "restore-forward", *words).finish(30, (64,))

    def test_what_is_older_than_the_horizon_is_refused(self):
        horizon = time.time_ns() // 1_000_000 - 3_600_000
        self.stack.mysql[0].query(f"INSERT INTO tombstone_sweep (horizon) VALUES ({horizon})")
        self.addCleanup(self.stack.mysql[0].query, "DELETE FROM tombstone_sweep")
        graph = self.stack.logs / "old.txt"
        graph.write_text("30001 30002\n")
        os.utime(graph, (time.time() - 7_200,) * 2)
        with self.assertRaisesRegex(FeedctlFailed, "ended with 65.*may be forgotten"):
            self.feedctl.run("import", graph)
        self.assertEqual(self.stack.mysql[shard_of(30001)].query("SELECT 1 FROM following WHERE src = 30001"), [])
        self.assertEqual(self.feedctl.json("import", graph, "--taken", "10m", "--json")["edges"], 1)
        os.utime(graph)
        with self.assertRaisesRegex(FeedctlFailed, "ended with 65"):
            self.feedctl.run("import", graph, "--taken", "2h")
        self.ledger.follow(30001, 30002)
        with self.assertRaisesRegex(FeedctlFailed, "ended with 64.*--since"):
            self.feedctl.run("relations", "rescan", "--since", "2h")
        self.feedctl.run("relations", "rescan", "--since", "30m")
        # A shard that is restored refuses what the others refuse.
        self.restore("--apply")
        self.assertEqual(self.server.query("SELECT horizon FROM tombstone_sweep"), [(str(horizon),)])
        self.addCleanup(self.server.query, "DELETE FROM tombstone_sweep")


if __name__ == "__main__":
    unittest.main()
