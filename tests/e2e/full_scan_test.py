"""The full scan: rows that no log tells of, edited by hand on either side, are found and set right; a table of which
very much differs is left alone until an operator has it go on; a killed reconciler goes on where it was."""

import time
import unittest

from tests.e2e.reconciler_test import WithReconciler
from tests.e2e.relations import shard_of

BASE_OF_MANY = 10_000
MANY = 400
TOLERATED = 100  # rows that differ without stopping it (reconciler/full_scanner.h)


class ScanOfTables(WithReconciler):
    """Rows of both tables, and the scan's places."""

    def shards(self, sql):
        return [row for server in self.stack.mysql for row in server.query(sql)]

    def change_shards(self, sql):
        for server in self.stack.mysql:
            server.query(sql)

    def scan_anew(self):
        self.since = time.time_ns() // 1_000_000
        self.change_shards("DELETE FROM full_scan")

    def passed(self):
        """Whether a pass that began since scan_anew has come to the end of every table."""
        # Its first page may have been compared before: where there is no place, none was taken away.
        self.change_shards(f"DELETE FROM full_scan WHERE began > 0 AND began < {self.since}")
        return [row[0] for row in self.shards("SELECT passed > 0 FROM full_scan")].count("1") == 2 * len(self.stack.mysql)

    def forward_row(self, edge, change):
        src, dst = edge[:2]
        self.stack.mysql[shard_of(src)].query(f"{change} WHERE src = {src} AND dst = {dst}")

    def reverse_row(self, edge, change):
        src, dst = edge[:2]
        self.stack.mysql[shard_of(dst)].query(f"{change} WHERE dst = {dst} AND src = {src}")

    def put(self, edges):
        self.tables.put_forward(*edges)
        self.tables.put_reverse(*edges)

    def agree(self, edges):
        keys = {edge[:2] for edge in edges}
        both = [{key: row for key, row in rows.items() if key in keys}
                for rows in (self.tables.forward(), self.tables.reverse())]
        return both[0] == both[1] and set(both[0]) == keys

    def repairs_by_scan(self):
        return {repair[2:4]: repair[1] for repair in self.tables.repairs() if repair[0] == "scan"}


class FullScan(ScanOfTables):
    mirrors = 1

    @classmethod
    def reconciler_args(cls):
        # Its replicas are the primaries themselves here; checks see to it that each has the place.
        return ["--full-scan-rate", "50000", "--full-scan-shards", cls.stack.env["FANLINE_MYSQL_SHARDS"]]

    def test_1_rows_that_were_edited_on_either_side_are_set_right(self):
        healthy = self.edges(0, 50)
        edges = self.edges(1_000, 7)
        gone, older, choice, orphan, ahead, ended, both_gone = edges
        self.put(healthy + edges)
        self.reverse_row(gone, "DELETE FROM follower")
        self.reverse_row(older, "UPDATE follower SET ver = ver - 7, pos = pos - 1")
        self.reverse_row(choice, "UPDATE follower SET delivery = 2")
        self.forward_row(orphan, "DELETE FROM following")
        self.reverse_row(ahead, "UPDATE follower SET ver = ver + 7")
        self.forward_row(ended, "UPDATE following SET ver = ver + 7, state = 0")
        self.forward_row(both_gone, "DELETE FROM following")
        self.reverse_row(both_gone, "DELETE FROM follower")
        self.scan_anew()
        self.wait_for(lambda: self.agree(healthy + edges[:-1]), "all rows to agree", 120)
        self.wait_for(self.passed, "the end of all tables", 60)
        causes = {gone: "missing", older: "stale", choice: "corrupt", orphan: "orphan", ahead: "ahead", ended: "stale"}
        self.assertEqual({edge[:2]: cause for edge, cause in causes.items()}, self.repairs_by_scan())
        self.assertNotIn(both_gone[:2], self.tables.forward(), "no table tells of it")
        counters = self.reconciler.counters()
        self.assertEqual(counters.total("fanline_relation_repairs_total", net="scan"), 6)
        self.assertEqual(counters.total("fanline_relation_escapes_total", found_by="scan"), 6)
        self.assertGreater(counters.total("fanline_relation_full_scan_rows_total", table="reverse"), 50)
        self.assertIn("by scan, missing", self.feedctl.run("relations", "repairs", str(gone[0])))
        self.assertIn("all rows were compared", self.doctor())

    def test_2_a_forward_shard_that_was_rolled_back_a_little_is_brought_forward(self):
        begun, ended, kept = self.edges(3_000, 20), self.edges(3_200, 20), self.edges(3_400, 400)
        for edges in (ended, kept):
            self.put(edges)
        self.tables.put_reverse(*begun)
        later = [(src, dst, ver + 1_000_000, False) for src, dst, ver, _ in ended]
        self.tables.put_reverse(*later)
        self.scan_anew()
        self.wait_for(lambda: self.agree(begun + ended + kept), "all rows to agree", 120)
        self.wait_for(self.passed, "the end of all tables", 60)
        forward = self.tables.forward()
        self.assertTrue(all(forward[edge[:2]][1] for edge in begun + kept), "their follows are there")
        self.assertFalse(any(forward[edge[:2]][1] for edge in ended), "nobody follows again whom they have left")
        self.assertTrue(all(forward[edge[:2]][0] > edge[2] for edge in begun + later), "by a version above both")

    def test_3_a_killed_reconciler_goes_on_and_nothing_is_repaired_twice(self):
        edges = self.edges(5_000, 20)
        self.put(edges)
        before = len(self.repairs_by_scan())
        self.scan_anew()
        for _ in range(3):
            self.reconciler.kill()
            self.reconciler.start().wait_ready()
        self.wait_for(self.passed, "the end of all tables", 120)
        self.assertEqual(len(self.repairs_by_scan()), before)

    def test_4_a_table_of_which_much_differs_is_left_alone_until_an_operator_has_it_go_on(self):
        edges = self.edges(BASE_OF_MANY, MANY, dst_shard=0)
        self.put(edges)
        before = self.repairs_by_scan()
        self.stack.mysql[0].query("DELETE FROM follower WHERE ver > 1")
        self.scan_anew()
        self.wait_for(lambda: len(self.shards("SELECT 1 FROM full_scan WHERE stopped <> ''")) == len(self.stack.mysql),
                      "both tables of forward rows to stop", 120)
        self.assertIn("rows differ from reverse rows of shard 0", self.doctor(codes=(1,)))
        self.assertGreater(self.reconciler.scrape().total("fanline_relation_full_scan_stopped"), 0)
        rewritten = self.repairs_by_scan().items() - before.items()
        # On a slow machine the first pages are small: so few may differ anywhere.
        self.assertLessEqual(len(rewritten), TOLERATED, "more was rewritten unasked")
        self.assertLessEqual(len(set(self.tables.reverse()) & {edge[:2] for edge in edges}), TOLERATED)
        self.change_shards("UPDATE full_scan SET stopped = '', allowed = 1 WHERE stopped <> ''")
        self.wait_for(lambda: self.mirrored(edges), "the repair of all", 180)
        self.wait_for(self.passed, "the end of all tables", 120)
        self.assertEqual(self.shards("SELECT 1 FROM full_scan WHERE stopped <> '' OR allowed > 0"), [])

    def doctor(self, codes=(0, 1)):
        return self.feedctl.start("doctor").finish(60, codes)


if __name__ == "__main__":
    unittest.main()
