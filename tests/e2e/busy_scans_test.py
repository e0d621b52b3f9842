"""Scans of both logs and of all rows beside as many changes a second as the machine bears: a row on its way is no
difference, so nothing is handed over, and nothing repaired."""

import json
import os
import random
import subprocess
import threading
import time
import unittest

from stack.programs import BIN
from stack.programs.relations import Relations
from tests.e2e.full_scan_test import ScanOfTables
from tests.e2e.meanwhile import Again

SECONDS = 40
AT_ONCE = 10_000  # follows of new edges


class Follows(threading.Thread):
    """New follows by the store, until they are ended."""

    def __init__(self, env):
        super().__init__()
        self.made, self.seconds = 0, 0.0
        self._env, self._over = {**os.environ, **env}, threading.Event()

    def run(self):
        while not self._over.is_set():
            told = subprocess.run([BIN / "fanline-bench-follow", "async", "--first", str(self.made), "--changes",
                                   str(AT_ONCE)], env=self._env, capture_output=True, text=True, check=True)
            self.made += AT_ONCE
            self.seconds += json.loads(told.stdout)["seconds"]

    def end(self):
        self._over.set()
        self.join()


class BusyScans(ScanOfTables):
    mirrors = 1

    @classmethod
    def reconciler_args(cls):
        return ["--full-scan-rate", "50000", "--log-scan-after", "5s", "--log-scan-rate", "50000"]

    def change_again(self, relations, draw):
        """Somebody who has followed for a while leaves, or comes back."""
        server = draw.choice(self.stack.mysql)
        rows = server.query("SELECT src, dst, state FROM following WHERE src >= "
                            f"{1_000_000_000 + draw.randrange(5_000)} LIMIT 1")
        for src, dst, state in rows:
            relations.change(int(src), int(dst), state == "0")

    def test_beside_many_changes_no_scan_finds_a_difference(self):
        for daemon in (*self.fleet.dispatchers, *self.fleet.pushers):  # the cores are the writers'
            daemon.stop()
        relations = Relations(self.stack.mysql)
        follows, passes = Follows(self.stack.env), 0
        again = [Again(lambda draw=random.Random(seed): self.change_again(relations, draw), 0.005) for seed in (1, 2)]
        begin = time.monotonic()
        for writer in (follows, *again):
            writer.start()
        try:
            while time.monotonic() < begin + SECONDS:
                self.scan_anew()
                self.wait_for(self.passed, "the end of all tables", 120)
                passes += 1
        finally:
            for writer in (follows, *again):
                writer.end()
        seconds = time.monotonic() - begin
        written = sum(int(number) for number, in self.shards("SELECT COALESCE(MAX(id), 0) FROM log1"))
        counters = self.reconciler.counters()
        scanned = {source: counters.total("fanline_relation_scanned_total", source=source)
                   for source in ("log1", "relation-log")}
        rows = counters.total("fanline_relation_full_scan_rows_total")
        print(f"{written / seconds:,.0f} changes/s for {seconds:.0f} s, of which {follows.made / follows.seconds:,.0f} "
              f"follows/s while they were made; {passes} passes of the full scan, {rows:,.0f} rows; changes scanned: "
              f"{scanned}", flush=True)
        self.assertGreater(passes, 0)
        self.assertGreater(min(scanned.values()), 0)
        self.wait_mirrored()
        self.wait_for(lambda: relations.forward() == relations.reverse(), "all rows to agree", 60)
        self.assertEqual(self.tables.repairs(), [])
        self.wait_for(lambda: self.gauge("retry_depth") == 0, "the retries", 60)
        for net in ("log", "scan"):  # what they hand over is checked
            self.assertEqual(self.rel("checks_total", net=net), 0, f"found by net {net}, and no difference")


if __name__ == "__main__":
    unittest.main()
