"""The log scan: what got lost after its pair was answered is found minutes later, here seconds. A reverse row that a
failover took, a row of log1 that was marked by hand, a friendship that one edge lost; and feedctl relations rescan."""

import time
import unittest

from tests.e2e.reconciler_test import WithReconciler
from tests.e2e.relations import shard_of, version

AFTER = 6  # seconds


class LogScan(WithReconciler):
    mirrors = 1

    @classmethod
    def reconciler_args(cls):
        return ["--log-scan-after", f"{AFTER}s"]

    def repairs_by_log(self):
        return [repair[1:4] for repair in self.tables.repairs() if repair[0] == "log"]

    def answered(self, edge):
        """The change, in both rows, with both of its messages."""
        self.tables.put_forward(edge, log=True)
        self.wait_for(lambda: self.mirrored([edge]), "the mirror")

    def forget_reverse(self, src, dst):
        self.stack.mysql[shard_of(dst)].query(f"DELETE FROM follower WHERE dst = {dst} AND src = {src}")
        self.stack.mysql[shard_of(dst)].query(f"UPDATE user_fan SET fans_cnt = fans_cnt - 1 WHERE user_id = {dst}")

    def test_a_reverse_row_that_was_lost_behind_its_msg2_comes_back(self):
        edge, = self.edges(100, 1)
        self.answered(edge)
        self.forget_reverse(*edge[:2])
        self.wait_for(lambda: self.mirrored([edge]), "the repair")
        self.assertIn(("missing", *edge[:2]), self.repairs_by_log())
        counters = self.reconciler.counters()
        self.assertGreaterEqual(counters.total("fanline_relation_escapes_total", missed_by="pair", found_by="log"), 1)
        self.assertGreaterEqual(counters.total("fanline_relation_repairs_total", net="log", cause="missing"), 1)
        shown = self.feedctl.run("relations", "repairs", str(edge[0]))
        self.assertIn("by log, missing: none became follows@", shown)

    def test_a_row_of_log1_that_was_marked_by_hand_is_found(self):
        edge, = self.edges(200, 1)
        src, dst, ver, _ = edge
        self.tables.put_forward(edge)
        self.stack.mysql[shard_of(src)].query(
            f"INSERT INTO log1 (kind, src, dst, ver, state, pos, done) VALUES (1, {src}, {dst}, {ver}, 1, {ver // 1000}, 1)")
        self.wait_for(lambda: self.mirrored([edge]), "the repair")
        self.assertIn(("missing", src, dst), self.repairs_by_log())

    def test_a_friendship_that_one_edge_lost_comes_back(self):
        low, high = 1_000_301, 1_000_302
        for src, dst in ((low, high), (high, low)):
            self.stack.mysql[shard_of(src)].query(
                "INSERT INTO following (src, dst, ver, state, pos, friend_announced) VALUES"
                f" ({src}, {dst}, 1, 0, 0, 7)")
        self.stack.mysql[shard_of(low)].query(
            "INSERT INTO log1 (kind, src, dst, ver, state, pos, done) VALUES"
            f" (2, {low}, {high}, 7, 1, {time.time_ns() // 1_000_000}, 1)")
        self.wait_for(lambda: all(self.tables.reverse().get(edge, (0, False))[1]
                                  for edge in ((low, high), (high, low))), "both edges")
        self.assertIn(("friendship", low, high), self.repairs_by_log())

    def test_a_rescan_says_what_differs_and_repairs_it(self):
        edges = self.edges(400, 20)
        for edge in edges:
            self.tables.put_forward(edge, log=True)
        self.wait_for(lambda: self.mirrored(edges), "the mirror")
        self.set_mode("pause")
        self.addCleanup(self.set_mode, "run")
        for src, dst, _, _ in edges:
            self.forget_reverse(src, dst)
        rescan = ("relations", "rescan", "--since", "1h", "--json")
        told = self.feedctl.json(*rescan, "--dry-run", codes=(1,))
        self.assertEqual((told["differing"], told["causes"], told["complete"]), (20, {"missing": 20}, True))
        self.assertFalse(told["applied"])
        self.assertTrue(told["not_seen"])
        self.assertFalse(self.mirrored(edges))
        of_one = self.feedctl.json(*rescan, "--shard", "0", codes=(0, 1))
        self.assertLess(of_one["compared"], told["compared"])
        told = self.feedctl.json(*rescan, "--apply")
        self.assertEqual((told["differing"], told["unread"], told["applied"]), (20, 0, True))
        self.set_mode("run")
        self.wait_for(lambda: self.mirrored(edges), "the repairs")

    def test_healthy_changes_are_scanned_and_nothing_is_repaired(self):
        before = len(self.tables.repairs())
        edges = [(src, dst, version(), live) for src, dst, _, live in self.edges(600, 50)]
        self.tables.put_forward(*edges, log=True)
        self.wait_for(lambda: self.mirrored(edges), "the mirror")
        self.wait_for(lambda: self.reconciler.counters().total(
            "fanline_relation_scanned_total", source="relation-log") >= 50, "the scan of relation-log")
        self.wait_for(lambda: "all changes up to 0 minutes ago were compared" in self.feedctl.start(
            "doctor").finish(60, (0, 1)), "doctor's line")
        self.assertEqual(len(self.tables.repairs()), before)


if __name__ == "__main__":
    unittest.main()
