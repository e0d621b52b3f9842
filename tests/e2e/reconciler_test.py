"""The pair reconciler: a change whose second half got lost is repaired within seconds; a
healthy one costs nothing. A msg1 that itself was lost is not found by pairs."""

import os
import subprocess
import time
import unittest

from stack.ports import Ports
from stack.programs import BIN
from stack.programs.daemon import Daemon
from stack.programs.fleet import RELATION_LOG
from stack.programs.relation_log import RelationLog
from tests.e2e.decoding import ROOT
from tests.e2e.installation import SESSION, Installation, most_followed
from tests.e2e.meanwhile import long
from tests.e2e.relations import Tables, shard_of, version

GRACE = 1.0
LOOKS_EVERY = 5  # seconds: how often a consumer looks where its log ends
BASE = 1_000_000  # users beyond the graph


class WithReconciler(Installation):
    grace = GRACE

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.brokers = cls.stack.env["FANLINE_KAFKA_BROKERS"]
        cls.log, cls.tables = RelationLog(cls.brokers), Tables(cls.stack)
        cls.reconciler = cls.daemon("fanline-reconciler", "--grace", f"{cls.grace:g}s",
                                    *cls.reconciler_args())

    @classmethod
    def reconciler_args(cls):
        return []

    @classmethod
    def daemon(cls, program, *args):
        ports = Ports()
        cls.addClassCleanup(ports.close)
        daemon = Daemon(cls.stack, ports, program, program, [*args, *SESSION])
        return daemon.start().wait_ready()

    def setUp(self):
        super().setUp()
        if not self.reconciler.running:
            self.reconciler.start().wait_ready()

    def set_mode(self, mode):
        self.feedctl.run("relations", "reconciler", mode)
        time.sleep(2)  # it is read about once a second

    def rel(self, name, **labels):
        return self.reconciler.counters().total(f"fanline_rel_{name}", **labels)

    def repairs(self, **labels):
        return self.reconciler.counters().total("fanline_relation_repairs_total", **labels)

    def gauge(self, name, **labels):
        return self.reconciler.scrape().total(f"fanline_rel_{name}", **labels)

    def mirrored(self, edges):
        """Whether each has a reverse row of its version."""
        rows = self.tables.reverse()
        return all(rows.get((src, dst)) == (ver, live) for src, dst, ver, live in edges)

    def edges(self, first, count, dst_shard=None, live=True):
        """`count` edges of users beyond the graph, each user once."""
        ver, found, user = version(), [], BASE + first
        while len(found) < count:
            src, dst = user, user + 1
            user += 2
            if dst_shard in (None, shard_of(dst)):
                found.append((src, dst, ver + len(found), live))
        return found


class Pairs(WithReconciler):
    def test_a_lost_second_half_is_repaired_recorded_and_hinted(self):
        author = most_followed(self.ledger)[0]
        reader = next(user for user in range(1, 301)
                      if user != author and user not in self.ledger.followers[author])
        post = self.publish(author)
        self.settle()
        self.make_live([reader])
        before = len(self.tables.repairs())
        edge = (reader, author, version(), True)
        self.tables.put_forward(edge)
        self.ledger.follow(reader, author)
        began = time.monotonic()
        self.log.written(edge)
        self.wait_for(lambda: self.mirrored([edge]), "the repair")
        took = time.monotonic() - began
        print(f"repaired {took:.2f} s after msg1, with a grace of {GRACE:g} s", flush=True)
        self.assertGreaterEqual(took, GRACE)
        self.assertEqual(self.tables.repairs()[before:], [
            ("pair", "missing", reader, author, "none", f"follows@{edge[2]}", edge[2])])
        self.wait_for(lambda: post in self.posts_of(reader), "the hint to reach the timeline")
        self.settle()
        self.assert_exact(live=[reader])

    def test_records_of_repairs_are_kept_for_a_month(self):
        for server in self.stack.mysql:
            for cause, days in (("old", 31), ("young", 29)):
                server.query("INSERT INTO repair_log (net, cause, src, dst, before_value, after_value, ver, at) VALUES "
                             f"('test', '{cause}', 1, 2, '', '', 1, {round((time.time() - days * 86400) * 1000)})")

        def causes():
            return [cause for net, cause, *_ in self.tables.repairs() if net == "test"]

        self.assertEqual(self.reconciler.stop(), 0)
        self.reconciler.start().wait_ready()
        self.wait_for(lambda: "old" not in causes(), "the purge")
        self.assertEqual(causes(), ["young"] * len(self.stack.mysql))

    def test_a_counter_that_fell_below_zero_is_counted_anew(self):
        reader, author = BASE + 90_001, BASE + 90_002
        mirror = self.daemon("fanline-mirror")
        self.addCleanup(mirror.stop)
        self.change_relation(reader, author, True)
        self.wait_mirrored()
        for server in self.stack.mysql:
            server.query(f"UPDATE user_rel SET following_cnt = -6 WHERE user_id = {reader}")
            server.query(f"UPDATE user_fan SET fans_cnt = 0 WHERE user_id = {author}")
        before = len(self.tables.repairs())
        micros = round(time.time() * 1_000_000)
        self.stack.mysql[shard_of(reader)].query(
            f"CALL change_edge({reader}, {author}, 0, -1, {micros}, {micros // 1000}, 0, 0, 5000)")

        def counters():
            return [int(count) for user, column, table in ((reader, "following_cnt", "user_rel"),
                                                           (author, "fans_cnt", "user_fan"))
                    for count, in self.stack.mysql[shard_of(user)].query(
                        f"SELECT {column} FROM {table} WHERE user_id = {user}")]

        self.wait_for(lambda: counters() == [0, 0], "both counters to be counted anew")
        self.wait_for(lambda: self.repairs(net="counter") >= 2, "the metric")
        self.assertEqual(sorted(repair[:5] for repair in self.tables.repairs()[before:]), [
            ("counter", "drift", reader, 0, "following_cnt -7"),
            ("counter", "drift", author, 0, "fans_cnt -1")])

    def test_a_dry_run_changes_nothing(self):
        self.assertEqual(self.feedctl.run("relations", "reconciler").strip(), "run")
        self.addCleanup(self.feedctl.run, "relations", "reconciler", "run")
        self.set_mode("dry_run")
        edges = self.edges(10_000, 5)
        self.tables.put_forward(*edges)
        self.log.written(*edges)
        self.wait_for(lambda: self.rel("repairs_withheld_total") >= 5, "the report")
        self.assertFalse({edge[:2] for edge in edges} & set(self.tables.reverse()))
        repaired = {repair[2:4] for repair in self.tables.repairs()}
        self.assertFalse({edge[:2] for edge in edges} & repaired)
        self.set_mode("run")
        self.wait_for(lambda: self.mirrored(edges), "the repairs")

    def test_a_letter_of_relation_log_is_replayed_as_a_check(self):
        edge, = self.edges(15_000, 1)
        self.tables.put_forward(edge)
        self.log.letter(edge, "its reverse shard refused it")
        letter, = self.feedctl.json("dlq", "list", "--json", "--topic", RELATION_LOG)["letters"]
        self.assertEqual(self.feedctl.json("dlq", "replay", "--json", letter["letter"])["replayed"], 1)
        self.wait_for(lambda: self.mirrored([edge]), "the repair")

    def wait_idle(self):
        """Until the checks that other tests have caused are made."""
        while True:
            checks = self.rel("checks_total")
            time.sleep(2 * GRACE + LOOKS_EVERY)
            if self.rel("checks_total") == checks:
                return

    def test_what_log1_has_pending_is_left_to_the_mirror(self):
        self.wait_idle()
        edges = self.edges(17_000, 50)
        self.tables.put_forward(*edges, log=True)  # and no mirror runs
        pending, checks = self.rel("pairs_total", result="pending"), self.rel("checks_total")
        for edge in edges:
            self.log.written(edge, log_id=self.tables.log_id(edge))
        self.wait_for(lambda: self.rel("pairs_total", result="pending") == pending + len(edges), "the answers")
        self.wait_for(lambda: self.gauge("pending") == 0, "the pairs to be finished")
        self.assertEqual((self.rel("checks_total"), self.gauge("retry_depth")), (checks, 0))
        mirror = self.daemon("fanline-mirror")
        self.addCleanup(mirror.stop)
        self.wait_for(lambda: self.mirrored(edges), "the mirror")

    def test_killed_while_it_repairs_it_finishes_in_its_next_life(self):
        edges = self.edges(30_000, 1_000)
        self.tables.put_forward(*edges)
        self.log.written(*edges)
        first = len(self.tables.repairs())
        self.wait_for(lambda: len(self.tables.repairs()) > first + 20, "repairs to begin")
        self.reconciler.kill()
        done = len({edge[:2] for edge in edges} & set(self.tables.reverse()))
        self.assertLess(done, len(edges))
        print(f"killed after {done} of {len(edges)} repairs", flush=True)
        self.reconciler.start().wait_ready()
        self.wait_for(lambda: self.mirrored(edges), "the rest")

    def test_a_wiped_forward_shard_costs_nobody_a_follower_who_did_not_leave(self):
        edges = self.edges(60_000, 200)
        self.tables.put_forward(*edges)
        self.tables.put_reverse(*edges)
        left = [(src, dst, ver + 1, False) for src, dst, ver, _ in edges[:100]]
        stayed = edges[100:]
        self.stack.mysql[0].query(f"DELETE FROM following WHERE src >= {BASE + 60_000} "
                                  f"AND src < {BASE + 90_000}")
        removed, bumped = self.repairs(cause="stale"), self.repairs(cause="lost")
        self.log.written(*left, *stayed)  # what the shards had acknowledged before
        self.wait_for(lambda: self.repairs(cause="lost") >= bumped + len(left) + sum(
            shard_of(src) == 0 for src, *_ in stayed), "the forward rows to be brought back")
        self.wait_for(lambda: self.gauge("pending") == 0, "the pairs to be answered")
        self.assertEqual(self.repairs(cause="stale"), removed)
        forward, reverse = self.tables.forward(), self.tables.reverse()
        for src, dst, _, live in left + stayed:
            self.assertEqual(reverse[src, dst][1], live)
            self.assertEqual(forward[src, dst], reverse[src, dst])
        causes = {(src, dst): cause for net, cause, src, dst, *_ in self.tables.repairs() if net == "pair"}
        self.assertEqual({causes[src, dst] for src, dst, *_ in left}, {"lost"})

    @long
    def test_a_shard_that_is_away_holds_up_only_its_own(self):
        away = self.edges(40_000, 20, dst_shard=1)
        here = [edge for edge in self.edges(50_000, 80, dst_shard=0)
                if shard_of(edge[0]) == 0][:20]
        self.tables.put_forward(*away, *here)
        self.stack.mysql[1].stop()
        stopped = time.monotonic()
        self.log.written(*away, *here)

        def here_done():
            rows = {(int(src), int(dst)) for src, dst in self.stack.mysql[0].query(
                "SELECT src, dst FROM follower")}
            return all((src, dst) in rows for src, dst, *_ in here)

        self.wait_for(here_done, "the other shard's repairs")
        self.wait_for(lambda: "mysql_1" in self.reconciler.named(), "the shard to be missed")
        self.assertNotIn("mysql_0", self.reconciler.named())
        self.assertEqual(self.reconciler.status("/readyz"), 200)
        time.sleep(max(0, stopped + 10 - time.monotonic()))
        self.stack.mysql[1].start()
        back = time.monotonic()
        self.wait_for(lambda: not self.reconciler.named(), "the shard to be seen again")
        self.wait_for(lambda: self.mirrored(away), "the repairs that waited")
        print(f"all repaired {time.monotonic() - back:.1f} s after a shard came back", flush=True)
        self.wait_for(lambda: self.gauge("retry_depth") == 0, "the retries to be empty")
        self.wait_for(lambda: self.gauge("pending") == 0, "the pairs to be answered")


@long
class Guarded(WithReconciler):
    def test_too_many_removals_stop(self):
        edges = self.edges(100_000, 2_000, dst_shard=0)
        ended = [(src, dst, ver + 1, False) for src, dst, ver, _ in edges]
        self.tables.put_reverse(*edges)
        self.tables.put_forward(*ended)
        self.log.written(*ended)
        self.wait_for(lambda: self.gauge("breaker_open", shard="0") == 1, "the breaker")
        time.sleep(5)
        rows = self.tables.reverse()
        removed = sum(rows[edge[:2]] != (edge[2], True) for edge in edges)
        print(f"{removed} of {len(edges)} removed before the breaker opened", flush=True)
        self.assertEqual(removed, 1_000)
        self.assertEqual(self.gauge("breaker_open", shard="1"), 0)
        self.reconciler.stop()
        self.reconciler.start().wait_ready()
        late = self.edges(200_000, 5, dst_shard=0)
        self.tables.put_reverse(*late)
        ended = [(src, dst, ver + 1, False) for src, dst, ver, _ in late]
        self.tables.put_forward(*ended)
        self.log.written(*ended)
        self.wait_for(lambda: self.gauge("breaker_open", shard="0") == 1, "the breaker after a restart")
        rows = self.tables.reverse()
        self.assertEqual(sum(rows[edge[:2]] != (edge[2], True) for edge in edges + late), 1_000)


class Healthy(WithReconciler):
    grace = 15.0  # a slow machine is healthy too

    def test_a_healthy_run_needs_no_check_and_no_repair(self):
        mirror = self.daemon("fanline-mirror")
        for round_ in range(5):
            edges = self.edges(round_ * 10_000, 200)
            self.tables.put_forward(*edges, log=True)
            self.wait_for(lambda: self.mirrored(edges), "the mirror")
        self.wait_for(lambda: self.rel("pairs_total", result="matched") == 1_000, "every pair")
        time.sleep(2 * GRACE)
        mirror.check_alive()
        self.assertEqual((self.rel("checks_total"), self.repairs(),
                          self.rel("retries_total")), (0, 0, 0))
        self.assertEqual(self.gauge("pending"), 0)
        forward, reverse = self.tables.forward(), self.tables.reverse()
        self.assertEqual(forward, reverse)


class OwnTables(WithReconciler):
    """An application's two tables in databases of its own, its messages sent by the example of
    docs/relations-contract.md."""

    @classmethod
    def reconciler_args(cls):
        user = cls.stack.env["FANLINE_MYSQL_USER"]
        for server, database in zip(cls.stack.mysql, ("app_a", "app_b")):
            server.query(f"CREATE DATABASE {database}")
            server.query(f"GRANT ALL ON {database}.* TO {user}@127.0.0.1")
        for server, table in zip(cls.stack.mysql, ("app_a.follows", "app_b.followers")):
            server.query(f"CREATE TABLE {table} (follower BIGINT UNSIGNED, followee BIGINT UNSIGNED,"
                         " version BIGINT UNSIGNED NOT NULL, state TINYINT NOT NULL,"
                         " since BIGINT NOT NULL, brings TINYINT NOT NULL DEFAULT 0,"
                         " PRIMARY KEY (follower, followee))")
        forward, reverse = (f"tcp://{server.address}/{database}" for server, database in
                            zip(cls.stack.mysql, ("app_a", "app_b")))
        cls.told = ["--forward-shards", forward, "--forward-table", "follows",
                    "--reverse-shards", reverse, "--reverse-table", "followers",
                    "--edge-columns", "follower,followee,version,state,since,brings"]
        return [*cls.told, "--full-scan-rate", "0"]  # it would find what the pair is to find

    def test_a_column_that_is_not_there_ends_it_at_the_start(self):
        told = [arg.replace("state", "nostate") for arg in self.told]
        ended = subprocess.run([BIN / "fanline-reconciler", "--admin-listen", "127.0.0.1:0", *told],
                               env={**os.environ, **self.stack.env}, capture_output=True, text=True,
                               timeout=60)
        self.assertEqual(ended.returncode, 78, ended.stderr)
        self.assertIn("--edge-columns: forward shard 0", ended.stderr)

    def send(self, *lines):
        subprocess.run(["/usr/bin/python3", ROOT / "docs/examples/python/relation_log.py"],
                       input="".join(f"{line}\n" for line in lines), text=True, check=True,
                       timeout=60, env={**os.environ, **self.stack.env})

    def reverse_row(self, src, dst):
        return self.stack.mysql[1].query(
            "SELECT version, state, since, brings FROM app_b.followers "
            f"WHERE follower = {src} AND followee = {dst}")

    def test_a_lost_reverse_row_is_repaired_and_an_answered_pair_costs_nothing(self):
        ver, checks, repairs = version(), self.rel("checks_total"), len(self.tables.repairs())
        self.stack.mysql[0].query(f"INSERT INTO app_a.follows VALUES (7, 8, {ver}, 1, 5000, 2), "
                                  f"(9, 8, {ver}, 1, 6000, 0)")
        self.stack.mysql[1].query(f"INSERT INTO app_b.followers VALUES (9, 8, {ver}, 1, 6000, 0)")
        self.send(f"written 7 8 {ver} follows 5000", f"written 9 8 {ver} follows 6000",
                  f"mirrored 9 8 {ver}")
        self.wait_for(lambda: self.reverse_row(7, 8) == [(str(ver), "1", "5000", "2")], "the repair")
        self.wait_for(lambda: self.gauge("pending") == 0, "the pairs to be answered")
        self.assertEqual(self.rel("checks_total"), checks + 1)
        self.assertEqual([repair[:4] for repair in self.tables.repairs()[repairs:]],
                         [("pair", "missing", 7, 8)])

    def test_a_follow_that_ended_is_taken_from_the_reverse_row_at_the_second_check(self):
        ver = version()
        self.stack.mysql[0].query(f"INSERT INTO app_a.follows VALUES (17, 18, {ver + 1}, 0, 5000, 0)")
        self.stack.mysql[1].query(f"INSERT INTO app_b.followers VALUES (17, 18, {ver}, 1, 5000, 0)")
        self.send(f"written 17 18 {ver + 1} ended 5000")
        self.wait_for(lambda: self.reverse_row(17, 18) == [(str(ver + 1), "0", "5000", "0")],
                      "the repair")

    def test_a_shard_of_the_application_that_is_away_shows_also_while_it_is_paused(self):
        self.set_mode("pause")
        self.addCleanup(self.set_mode, "run")
        self.stack.mysql[1].stop()
        self.wait_for(lambda: "reverse_0" in self.reconciler.named(), "it to be missed")
        self.assertNotIn("forward_0", self.reconciler.named())
        self.stack.mysql[1].start()
        self.wait_for(lambda: self.reconciler.status("/readyz") == 200, "it to be seen again")
