"""Two reconcilers share the full scan, and one of them is killed in the middle of a pass: the other one takes its
tables over where they are, all that differs is found, and nothing else."""

import unittest

from stack.ports import Ports
from stack.programs.daemon import Daemon
from tests.e2e.full_scan_test import ScanOfTables
from tests.e2e.installation import SESSION

EDGES = 40_000  # four pages or more of each table and shard


class SharedScans(ScanOfTables):
    mirrors = 1

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        ports = Ports()
        cls.addClassCleanup(ports.close)
        cls.other = Daemon(cls.stack, ports, "fanline-reconciler", "reconciler-2", [*cls.reconciler_args(), *SESSION])
        cls.other.start().wait_ready()

    @classmethod
    def reconciler_args(cls):
        return ["--full-scan-rate", "4000"]

    def compared(self, daemon):
        return daemon.counters().total("fanline_relation_full_scan_rows_total")

    def share(self):
        """Waits until both compare rows of a pass that begins now. Returns how many they had compared before."""
        before = [self.compared(daemon) for daemon in (self.reconciler, self.other)]
        self.scan_anew()
        self.wait_for(lambda: all(self.compared(daemon) > rows for daemon, rows in
                                  zip((self.reconciler, self.other), before)), "both to compare rows", 60)
        return before

    def test_what_differs_is_found_though_one_of_them_dies(self):
        edges = self.edges(0, EDGES)
        self.put(edges)
        wrong = edges[:: EDGES // 12]
        for edge in wrong[::2]:
            self.reverse_row(edge, "DELETE FROM follower")
        for edge in wrong[1::2]:
            self.forward_row(edge, "DELETE FROM following")
        self.share()
        self.assertFalse(self.passed())
        self.other.kill()
        alone = self.compared(self.reconciler)
        self.wait_for(self.passed, "the end of all tables", 120)
        self.wait_for(lambda: self.agree(edges), "all rows to agree", 60)
        self.assertGreater(self.compared(self.reconciler) - alone, EDGES // 2, "it took the other's tables over")
        self.assertEqual(set(self.repairs_by_scan()), {edge[:2] for edge in wrong})

        self.other.start().wait_ready()
        repairs = self.tables.repairs()
        self.share()
        self.wait_for(self.passed, "the end of all tables", 120)
        self.assertEqual(self.tables.repairs(), repairs, "nothing differs any more")


if __name__ == "__main__":
    unittest.main()
