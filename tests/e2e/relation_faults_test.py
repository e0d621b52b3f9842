"""Relations whose messages are late, lost or cut off, and whose API is killed: nothing that was
acknowledged is lost, and both directions, counters and timelines are exact in the end. Faults drawn
from a seed: tests/chaos."""

import http.client
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from stack.programs.api import Api
from stack.programs.backlog import Backlog
from stack.programs.daemon import Daemon
from stack.programs.fleet import RELATION_LOG
from stack.programs.relation_log import RelationLog
from tests.e2e import mirror_test
from tests.e2e.installation import SESSION
from tests.e2e.relations import Tables

GRACE_S = 1
FETCH_WAIT_S = 0.1  # how long a broker keeps a fetch when there is nothing
RECONCILER, RETRY = "fanline-reconciler", f"{RELATION_LOG}.retry"
BURST, BURST_CLIENTS = 800, 8  # follows


class RelationFaults(mirror_test.Mirrored):
    mirrors = 2

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.brokers = cls.stack.env["FANLINE_KAFKA_BROKERS"]
        cls.log, cls.tables = RelationLog(cls.brokers), Tables(cls.stack)
        cls.reconcilers = [cls.reconciler(f"reconciler-{n}") for n in (1, 2)]
        cls.api = Api(cls.stack, cls.ports)
        cls.backlogs = [Backlog(cls.brokers, RECONCILER, RELATION_LOG),
                        Backlog(cls.brokers, f"{RECONCILER}-retry", RETRY)]
        for backlog in cls.backlogs:
            cls.addClassCleanup(backlog.close)

    @classmethod
    def reconciler(cls, name):
        return Daemon(cls.stack, cls.ports, RECONCILER, name, ["--grace", f"{GRACE_S}s", *SESSION])

    def setUp(self):
        super().setUp()
        for daemon in (*self.reconcilers, self.api):
            if not daemon.running:
                daemon.start()
        for daemon in (*self.reconcilers, self.api):
            daemon.wait_ready()

    # ---- quiescence ----------------------------------------------------------------------------

    def left(self):
        """What is not done yet, in words, what is upstream first."""
        if records := self.fleet.unfinished():
            return records
        if rows := self.relations.pending():
            return f"{rows} rows of log1"
        for backlog in self.backlogs:
            if records := backlog.records():
                return f"{records} records for {backlog.group}"
        for reconciler in self.reconcilers:
            for gauge in ("pending", "retry_depth"):
                if number := reconciler.scrape().total(f"fanline_rel_{gauge}"):
                    return f"{number:g} {gauge} of {reconciler.name}"
        return ""

    def settled(self):
        for daemon in [*self.fleet.daemons, *self.reconcilers, self.api]:
            daemon.check_alive()
        self.last_left = self.left()
        # Twice: a row that a repair writes goes through all of it again, maybe behind our look.
        self.quiet = 0 if self.last_left else self.quiet + 1
        return self.quiet > 1

    def settle(self, timeout=300):
        self.quiet, self.last_left = 0, ""
        try:
            super().settle(timeout)
        except TimeoutError as error:
            raise AssertionError(f"left: {self.last_left}") from error

    # ---- what must hold ------------------------------------------------------------------------

    def assert_rows_are_the_ledger(self):
        self.assertEqual({edge for edge, (_, live) in self.tables.forward().items() if live},
                         self.ledger.edges())

    # ---- the tests -----------------------------------------------------------------------------

    def test_1_killed_after_the_forward_commit_no_acknowledged_follow_is_lost(self):
        for mode in ("sync", "async"):
            with self.subTest(mode):
                self.feedctl.run("relations", "mode", mode)
                time.sleep(1.5)  # it is read about once a second
                edges = self.strangers(BURST)
                acknowledged = []
                with ThreadPoolExecutor(BURST_CLIENTS) as pool:
                    following = [pool.submit(self.follow_until_it_dies,
                                             edges[number::BURST_CLIENTS], acknowledged)
                                 for number in range(BURST_CLIENTS)]
                    self.wait_for(lambda: len(acknowledged) > BURST // 5, "follows")
                    self.api.process.kill()
                    for one in following:
                        one.result()
                self.api.start().wait_ready()
                self.settle()
                forward = self.tables.forward()
                made = {edge for edge in edges if forward.get(edge, (0, False))[1]}
                print(f"{mode}: {len(acknowledged)} acknowledged, {len(made)} made", flush=True)
                self.assertLess(len(acknowledged), BURST)
                self.assertEqual(set(acknowledged) - made, set(), "acknowledged, and lost")
                reverse = self.tables.reverse()
                self.assertEqual({edge for edge in made if reverse.get(edge) != forward[edge]},
                                 set())
                for edge in made:
                    self.note(*edge, True)
                self.assert_mirrored()
                self.assert_rows_are_the_ledger()

    def follow_until_it_dies(self, edges, acknowledged):
        client = self.api.client()
        try:
            for src, dst in edges:
                self.assertEqual(client.put(f"/v1/users/{src}/following/{dst}").status, 200)
                acknowledged.append((src, dst))
        except (OSError, http.client.HTTPException):
            pass
        finally:
            client.close()

    def forget_in_log1(self, edges):
        """So that no mirror finds them."""
        for shard in self.stack.mysql:
            for src, dst, *_ in edges:
                shard.query(f"UPDATE log1 SET done = 1 WHERE src = {src} AND dst = {dst}")

    def change_by_hand(self, edges, live):
        """Changes each with its row of log1. Returns (src, dst, ver, live) of each."""
        for src, dst in edges:
            self.change(src, dst, live)
        forward = self.tables.forward()
        return [(*edge, *forward[edge]) for edge in edges]

    def mirrored(self, edges):
        rows = self.tables.reverse()
        return all(rows.get(edge[:2]) == edge[2:] for edge in edges)

    def row(self, edge):
        src, dst, *_ = edge
        return self.stack.mysql[self.relations.shard_of(dst)].query(
            f"SELECT ver, state, pos, ut FROM follower WHERE src = {src} AND dst = {dst}")

    def repairs_of(self, edges):
        """How often a repair of each, as it is now, was begun: more than once if one ran out of time."""
        repaired = [(src, dst, ver) for _, _, src, dst, _, _, ver in self.tables.repairs()]
        return [repaired.count(edge[:3]) for edge in edges]

    def repaired(self, edges):
        return all(self.repairs_of(edges)) and self.mirrored(edges)

    def test_2_a_change_applied_long_after_its_repair_changes_nothing(self):
        begun = self.strangers()
        ended = self.draw.choice(sorted(self.ledger.edges()))
        applied = self.counter("fanline_rel_apply_total", result="applied")
        stale = self.counter("fanline_rel_apply_total", result="stale")
        for mirror in self.fleet.mirrors:
            mirror.pause()
            self.addCleanup(mirror.resume)
        edges = self.change_by_hand([begun], True) + self.change_by_hand([ended], False)
        self.log.written(*edges)
        self.wait_for(lambda: self.mirrored(edges), "the repairs")
        rows, repairs = [self.row(edge) for edge in edges], self.repairs_of(edges)
        self.assertTrue(all(repairs), repairs)
        for mirror in self.fleet.mirrors:
            mirror.resume()
        for mirror in self.fleet.mirrors:
            mirror.wait_ready()
        self.assert_mirrored()
        self.assertEqual(self.counter("fanline_rel_apply_total", result="applied"), applied)
        self.assertGreaterEqual(self.counter("fanline_rel_apply_total", result="stale"), stale + 2)
        self.assertEqual([self.row(edge) for edge in edges], rows)
        self.assertEqual(self.repairs_of(edges), repairs)

    def test_3_a_log_cut_off_before_it_was_read_is_said_and_stops_nobody(self):
        alone = self.stop_all_readers()
        strangers = self.strangers(45)
        pending = self.change_by_hand(strangers[:20], True)  # in log1 too
        lost = self.change_by_hand(strangers[20:30], True)  # in the log alone
        self.forget_in_log1(lost)
        self.log.written(*pending, *lost)
        unread = self.backlogs[0].records()
        self.assertGreaterEqual(unread, 30)
        self.log.cut()

        losses = self.lost_records(alone)
        alone.start().wait_ready()
        told = self.loss_told(alone, losses + unread)
        self.assertEqual(alone.stop(), 0)
        alone.start().wait_ready()
        # What is new is found, also of an edge whose message was lost.
        new = self.change_by_hand(strangers[30:], True)
        self.log.written(*new, *lost[:5])
        self.wait_for(lambda: self.repaired(new + lost[:5]), "the repairs")
        self.assertEqual(self.lost_records(alone), told, "said twice")

        # What only the cut log held is for a scan to find; the rows of log1 are the mirrors'.
        self.assertEqual(self.repairs_of(pending + lost[5:]), [0] * 25)
        for mirror in self.fleet.mirrors:
            mirror.start().wait_ready()
        self.wait_for(lambda: self.mirrored(pending), "the mirrors")
        self.log.written(*lost[5:])
        self.reconcilers[1].start().wait_ready()
        self.assert_mirrored()
        self.assert_rows_are_the_ledger()

    def test_4_a_log_cut_off_under_its_reader_is_said_once_and_read_on(self):
        alone = self.stop_all_readers().start().wait_ready()
        before, = self.change_by_hand([self.strangers()], True)
        self.log.written(before)
        self.wait_for(lambda: self.repaired([before]), "the reader to be at work")
        self.wait_for(lambda: self.backlogs[0].records() == 0, "its commit")
        losses = self.lost_records(alone)
        alone.pause()
        # A fetch under way would bring the reader what is written next, cut or not: it ends empty.
        time.sleep(10 * FETCH_WAIT_S)
        self.log.written(*self.change_by_hand(self.strangers(20), True))
        unread = self.backlogs[0].records()
        self.assertEqual(unread, 20)
        self.log.cut()
        alone.resume()
        told = self.loss_told(alone, losses + unread)
        new = self.change_by_hand(self.strangers(5), True)
        self.log.written(*new)
        self.wait_for(lambda: self.repaired(new), "the repairs")
        alone.check_alive()
        self.assertEqual(self.lost_records(alone), told, "said twice")
        for daemon in (*self.fleet.mirrors, self.reconcilers[1]):
            daemon.start().wait_ready()
        self.assert_mirrored()
        self.assert_rows_are_the_ledger()

    def stop_all_readers(self):
        """Stops relation-log's readers and the mirrors; returns the reconciler to start."""
        # A group that never committed a place in a partition cannot miss what was there.
        for edge in self.strangers(100):
            self.change(*edge, True)
        self.settle()
        for daemon in (*self.fleet.mirrors, *self.reconcilers):
            daemon.stop()
        return self.reconcilers[0]

    def loss_told(self, daemon, least):
        """How many records are lost when no more are told. The later look, which is behind, loses more."""
        self.wait_for(lambda: self.lost_records(daemon) >= least, "the loss to be told")
        told = None
        while told != (now := self.lost_records(daemon)):
            told = now
            time.sleep(1)
        self.assertIn("cut from a log", (self.stack.logs / f"{daemon.name}.log").read_text())
        return told

    def lost_records(self, *daemons):
        for daemon in daemons:
            daemon.check_alive()
        return sum(daemon.counters().total("fanline_events_lost_total") for daemon in daemons)
