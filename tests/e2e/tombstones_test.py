"""Rows of old unfollows are collected: after a full scan has passed all shards they go from both tables, behind a
horizon. Time is made by hand: the rows are aged, the passes of the scan are said to be over."""

import time
import unittest

from stack.programs.relations import Relations
from tests.e2e.reconciler_test import WithReconciler
from tests.e2e.relations import shard_of

DAY_MS = 86_400_000
KEEP_MS = DAY_MS  # the shortest there may be
TABLES = (("following", 0), ("follower", 1))  # with the end of an edge whose shard has the row


class Tombstones(WithReconciler):
    mirrors = 1

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.reconciler.stop()  # it begins with what is made ready

    @classmethod
    def reconciler_args(cls):
        return ["--tombstone-keep", "24h", "--full-scan-rate", "0"]

    def setUp(self):
        """The reconciler stays where it is."""

    def age(self, edges, age_ms):
        made = time.time_ns() // 1_000_000 - age_ms
        for table, end in TABLES:
            for edge in edges:
                self.stack.mysql[shard_of(edge[end])].query(
                    f"UPDATE {table} SET ver = {made * 1_000}, ut = FROM_UNIXTIME({made} / 1000) "
                    f"WHERE src = {edge[0]} AND dst = {edge[1]}")

    def has_rows(self, edge):
        """In either table."""
        return [edge in rows for rows in (self.tables.forward(), self.tables.reverse())]

    def test_old_unfollows_go_from_both_tables_and_what_is_older_is_refused(self):
        relations = Relations(self.stack.mysql)
        live = sorted(self.ledger.edges())
        old, young, friends, kept = live[:6], live[6:9], live[9:12], live[12:15]
        for edge in old + young + friends:
            relations.change(*edge, False)
        self.wait_mirrored()
        self.age(old + friends + kept, KEEP_MS + 3_600_000)
        for src, dst in friends:
            self.stack.mysql[shard_of(src)].query(
                f"UPDATE following SET friend_version = 7, ut = ut WHERE src = {src} AND dst = {dst}")
        now = time.time_ns() // 1_000_000
        for shard, server in enumerate(self.stack.mysql):
            for table, _ in TABLES:
                server.query(f"REPLACE INTO full_scan SET edges = '{table}', shard = {shard}, began = {now}, "
                             f"passed = {now}, proved = {now}")
        horizon = now - KEEP_MS
        self.reconciler.start().wait_ready()
        self.wait_for(lambda: all(self.horizons()), "the horizon", 120)  # it asks once a minute
        self.assertTrue(all(found >= horizon for found in self.horizons()))
        self.assertEqual([self.has_rows(edge) for edge in old], [[True, True]] * len(old), "it settles first")
        self.wait_for(lambda: not any(map(any, map(self.has_rows, old))), "the old ones to go", 120)
        for edge in young + friends + kept:
            self.assertEqual(self.has_rows(edge), [True, True], edge)
        counters = self.reconciler.counters()
        for direction in ("forward", "reverse"):
            self.assertEqual(counters.total("fanline_relation_tombstones_collected_total", direction=direction),
                             len(old), direction)
        self.assertEqual((self.tables.repairs(), relations.wrong_counters()), ([], []))

        # A change from before comes back: nobody takes it for one that was lost.
        src, dst = old[0]
        self.log.written((src, dst, (horizon - DAY_MS) * 1_000, True))
        checked = self.rel("checks_total")
        self.wait_for(lambda: self.rel("checks_total") > checked, "its check", 60)
        self.assertEqual(self.has_rows((src, dst)), [False, False])
        # And a new one is made as ever.
        relations.change(src, dst, True)
        self.wait_mirrored()
        self.assertEqual(self.has_rows((src, dst)), [True, True])
        self.assertEqual(self.tables.forward()[src, dst], self.tables.reverse()[src, dst])

    def horizons(self):
        """Of each shard; 0: none yet."""
        found = [server.query("SELECT horizon FROM tombstone_sweep") for server in self.stack.mysql]
        return [int(rows[0][0]) if rows else 0 for rows in found]


if __name__ == "__main__":
    unittest.main()
