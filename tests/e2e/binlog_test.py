"""The mirror mode `log`: a mirror hears of changes from the servers' binary logs. Without them, as when a
right is missing, a link is cut or a server starts anew, polls bring every change all the same."""

import statistics
import time

from stack.services.mysql import BINLOG, DATABASE
from tests.e2e.mirror_test import Mirrored

FOLLOWS = 100


class ToldByTheBinaryLog(Mirrored):
    stack_options = {"mysql_args": BINLOG}

    def setUp(self):
        super().setUp()
        self.grant()
        self.set_mode("log")
        self.wait_for(lambda: self.connected() == 2, "both binary logs to be read")

    def set_mode(self, mode):
        self.feedctl.run("relations", "mode", mode)

    def grant(self):
        for shard in self.stack.mysql:
            shard.let_read_binlog()

    def revoke(self):
        for shard in self.stack.mysql:
            shard.let_read_binlog(False)
        self.cut()

    def cut(self):
        """Ends the links to the binary logs."""
        for shard in self.stack.mysql:
            for number, _, _, _, command, *_ in shard.query("SHOW PROCESSLIST"):
                if command.startswith("Binlog Dump"):
                    shard.query(f"KILL {number}")

    def metric(self, name, **labels):
        return self.mirror.scrape().total(name, **labels)

    def connected(self):
        return self.metric("fanline_rel_binlog_connected")

    def found(self):
        return self.metric("fanline_rel_binlog_rows_total", result="found")

    def follow_some(self):
        """Follows of strangers, some milliseconds apart; milliseconds to each reverse row, by the servers' clocks."""
        edges = self.strangers(FOLLOWS)
        for number, edge in enumerate(edges):
            self.change(*edge, True)
            time.sleep(0.001 * (number % 20))
        self.settle()
        took = []
        for src, dst in edges:
            # Both servers have this machine's clock.
            written = self.at(src, "log1 WHERE kind = 1 AND", "ts", src, dst)
            took.append(1000 * (self.at(dst, "follower WHERE", "ut", src, dst) - written))
        return took

    def at(self, user, rows, column, src, dst):
        with self.stack.mysql[self.relations.shard_of(user)].client() as client:
            client.query("SET time_zone = '+00:00'")
            return float(client.query(f"SELECT MAX(UNIX_TIMESTAMP({column})) FROM {rows} src = {src} AND "
                                      f"dst = {dst}")[0][0])

    def test_changes_come_by_the_binary_log_and_in_less_time(self):
        told = self.follow_some()
        self.assertGreaterEqual(self.found(), 0.9 * FOLLOWS)
        self.set_mode("async")
        self.wait_for(lambda: self.connected() == 0, "the mirror to stop listening")
        before = self.found()
        polled = self.follow_some()
        self.assertEqual(self.found(), before)
        for name, took in (("log", told), ("async", polled)):
            print(f"mode {name}: ms to the reverse row: median {statistics.median(took):.1f}, the slowest "
                  f"{max(took):.1f}", flush=True)
        self.assert_mirrored()

    def test_without_the_rights_polls_bring_them_and_the_log_says_what_to_grant(self):
        self.revoke()
        self.wait_for(lambda: self.connected() == 0, "the links to be gone")
        before = self.found()
        self.follow_some()
        self.assertEqual(self.found(), before)
        self.assertGreaterEqual(self.metric("fanline_rel_binlog_gap_total"), 2)
        said = (self.stack.logs / f"{self.mirror.name}.log").read_text()
        self.assertIn("GRANT REPLICATION SLAVE, REPLICATION CLIENT", said)
        self.assertEqual(self.mirror.get("/readyz")[0], 200)
        self.assertIn("mirrors may have to poll it in the mode log, too: this account may not ask", self.feedctl.run("doctor"))
        self.grant()
        self.wait_for(lambda: self.connected() == 2, "both binary logs to be read")
        self.assert_mirrored()

    def test_links_that_are_cut_again_and_again_lose_nothing(self):
        edges = self.strangers(FOLLOWS)
        for number, edge in enumerate(edges):
            self.change(*edge, True)
            if number % 10 == 0:
                self.cut()
        self.assert_mirrored()

    def test_a_server_that_starts_anew_is_listened_to_again(self):
        shard = self.stack.mysql[1]
        edges = self.strangers(20)
        for edge in edges[:10]:
            self.change(*edge, True)
        shard.kill()
        self.wait_for(lambda: self.connected() < 2, "the mirror to notice")
        shard.start()
        for edge in edges[10:]:
            self.change(*edge, True)
        self.wait_for(lambda: self.connected() == 2, "both binary logs to be read")
        before = self.found()
        self.follow_some()
        self.assertGreater(self.found(), before)
        self.assert_mirrored()

    def test_a_link_by_which_nothing_is_told_is_made_anew(self):
        """As after a switch of primaries that nobody noticed: the old one's log goes on, and stays empty."""
        before = self.metric("fanline_rel_binlog_gap_total")
        for edge in self.strangers(5):
            self.relations.change(*edge, True, logged=False)
            self.note(*edge, True)
            time.sleep(0.7)
        self.wait_for(lambda: self.metric("fanline_rel_binlog_gap_total") > before, "the silence to be noticed")
        self.assertIn("did not tell of a change", (self.stack.logs / f"{self.mirror.name}.log").read_text())
        self.assert_mirrored()
        self.wait_for(lambda: self.connected() == 2, "both binary logs to be read")
        before = self.found()
        self.follow_some()
        self.assertGreater(self.found(), before)

    def test_a_server_that_logs_other_databases_alone_is_named(self):
        shard = self.stack.mysql[1]
        before = list(shard.args)
        self.addCleanup(self.start_anew, shard, before)
        self.start_anew(shard, [*before, f"--binlog-ignore-db={DATABASE}"])
        self.wait_for(lambda: "binlog_ignore_db" in (self.stack.logs / f"{self.mirror.name}.log").read_text(),
                      "the mirror to say so")
        self.assertEqual(self.connected(), 1)
        self.follow_some()
        self.assert_mirrored()

    def start_anew(self, shard, args):
        shard.kill()
        shard.args = args
        shard.start()
