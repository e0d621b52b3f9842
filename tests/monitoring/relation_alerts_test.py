"""Faults of relations and of the reconciler, and their alerts (provoked.py)."""

import unittest

from confluent_kafka import Producer

from stack.programs.fleet import RELATION_LOG
from tests.e2e.relations import shard_of, version
from tests.monitoring import runbook
from tests.monitoring.provoked import Provoked
from tests.monitoring.watched import sees_fire

MANY = 20  # more than an alert lets pass
BASE = 5_000_000  # users beyond the graph


class RelationFaults(Provoked):
    silent_at_first = True
    pushers = 1
    reconciler_args = ("--grace", "1s", "--counter-sweep-every", "1s", "--log-scan-after", "10s",
                       "--log-scan-rate", "1", "--full-scan-rate", "50000")

    @sees_fire("FanlineCountersDrift", "FanlineRelationLettersDead")
    def test_1_counters_are_changed_by_hand_and_strangers_write_to_the_log(self):
        users = self.users_of_rows()
        self.feedctl.run("relations", "reconciler", "dry_run")
        for server in self.stack.mysql:
            server.query(f"UPDATE user_fan SET fans_cnt = fans_cnt + 7 WHERE user_id IN ({','.join(users)})")
        stranger = Producer({"bootstrap.servers": self.stack.kafka.address})
        stranger.produce(RELATION_LOG, value=b"\xff\xfe no message of ours")
        self.assertEqual(stranger.flush(60), 0)
        self.wait_fires("FanlineRelationLettersDead", severity="ticket")
        letters = self.type_of("FanlineRelationLettersDead", "feedctl dlq list --topic relation-log")
        self.assertIn("1 dead letter", letters)
        letters = self.type_of("FanlineRelationLettersDead", "feedctl dlq list --topic relation-log.retry")
        self.assertIn("0 dead letters", letters)
        self.wait_fires("FanlineCountersDrift", severity="ticket")
        self.wait_for(lambda: {(user, "2") for user in users} <= {tuple(row) for row in self.ask_shards(
            "FanlineCountersDrift", "SELECT user_id")}, "the counters to be marked")
        self.assertFalse(set(users) & self.set_right())
        self.feedctl.run("relations", "reconciler", "run")
        self.wait_for(lambda: set(users) <= self.set_right(), "the counters to be set right")
        self.wait_for(lambda: '"differing":0' in self.type_of("FanlineCountersDrift", "feedctl relations counters", {
            "5 7": " ".join([*users, "--json"])}, codes=(0, 1)), "the repairs")
        self.begun()
        self.wait_silent("FanlineRelationLettersDead")
        self.wait_silent("FanlineCountersDrift")

    @sees_fire("FanlineRelationsCorrupt", "FanlineRepairsMany")
    def test_2_log1_loses_changes(self):
        self.assertFalse(self.fires("FanlineRepairsMany"))
        self.assertFalse(self.fires("FanlineRelationsCorrupt"))
        edges = [(BASE + n, BASE + 1_000 + n, version(), True) for n in range(MANY)]
        ver = version()
        by_hand = [(BASE + 5_000, BASE + 6_000, ver, True), (BASE + 5_001, BASE + 6_001, ver, False)]
        self.tables.put_reverse(*[(src, dst, ver, not live) for src, dst, ver, live in by_hand])
        self.lose(*edges, *by_hand)
        self.wait_fires("FanlineRepairsMany", severity="ticket")
        self.wait_fires("FanlineRelationsCorrupt", severity="ticket")
        self.wait_for(lambda: self.repaired("missing") == MANY, "every change that was lost to be repaired")
        self.wait_for(lambda: {(int(row[0]), int(row[1])) for row in self.ask_shards("FanlineRelationsCorrupt")}
                      == {edge[:2] for edge in by_hand}, "both rows that were written by hand to be repaired")
        for src, dst, _, live in by_hand:
            shown = self.type_of("FanlineRelationsCorrupt", "feedctl relations show", {"5 7": f"{src} {dst}"})
            self.assertIn("both rows agree", shown)
            self.assertEqual(self.tables.reverse()[src, dst][1], live, "the forward row holds")
        self.begun()
        self.wait_silent("FanlineRepairsMany")
        self.wait_silent("FanlineRelationsCorrupt")

    @sees_fire("FanlineRepairsWithheld")
    def test_3_a_dry_run_is_forgotten(self):
        self.feedctl.run("relations", "reconciler", "dry_run")
        edges = [(BASE + 10_000 + n, BASE + 11_000 + n, version(), True) for n in range(3)]
        self.lose(*edges)
        self.wait_fires("FanlineRepairsWithheld", severity="ticket")
        self.assertIn("dry_run", self.type_of("FanlineRepairsWithheld", "feedctl relations reconciler"))
        self.assertFalse({edge[:2] for edge in edges} & set(self.tables.reverse()))
        self.type_of("FanlineRepairsWithheld", "feedctl relations reconciler run")
        self.wait_for(lambda: {edge[:2] for edge in edges} <= set(self.tables.reverse()), "the repairs")
        self.begun()
        self.wait_silent("FanlineRepairsWithheld")

    @sees_fire("FanlineEscapes", "FanlineLogScanStands")
    def test_4_somebody_marks_rows_of_log1(self):
        edges = [(BASE + 20_000 + n, BASE + 21_000 + n, version(), True) for n in range(60)]
        self.tables.put_forward(*edges)
        for shard, server in enumerate(self.stack.mysql):
            server.query("UPDATE log_scan SET up_to = up_to - 7200000")
            rows = ",".join(f"(1,{src},{dst},{ver},1,{ver // 1000},1)" for src, dst, ver, _ in edges
                            if shard_of(src) == shard)
            server.query(f"INSERT INTO log1 (kind, src, dst, ver, state, pos, done) VALUES {rows}")
        self.begun()
        self.wait_fires("FanlineLogScanStands", severity="ticket")
        self.type_of("FanlineLogScanStands", "feedctl doctor", codes=(0, 1))
        self.wait_fires("FanlineEscapes", severity="ticket")
        shown = self.type_of("FanlineEscapes", "feedctl relations repairs", {"5": str(edges[0][0])})
        self.assertIn("by log, missing", shown)
        self.wait_for(lambda: {edge[:2] for edge in edges} <= set(self.tables.reverse()), "the repairs")
        self.assertIn(" 0 differ", self.type_of("FanlineEscapes", "feedctl relations rescan --since 2h --apply"))
        self.begun()
        self.wait_silent("FanlineLogScanStands")
        self.wait_silent("FanlineEscapes")

    @sees_fire("FanlineFullScanStands")
    def test_5_a_shard_loses_most_of_its_followers(self):
        edges = [edge for edge in ((BASE + 30_000 + n, BASE + 40_000 + n, version(), True) for n in range(600))
                 if shard_of(edge[1]) == 0]
        self.tables.put_forward(*edges)
        for server in self.stack.mysql:
            server.query("DELETE FROM full_scan")
        self.begun()
        self.wait_fires("FanlineFullScanStands", severity="ticket")
        self.assertIn("rows differ from reverse rows of shard 0",
                      self.type_of("FanlineFullScanStands", "feedctl doctor", codes=(0, 1)))
        self.assertFalse({edge[:2] for edge in edges} & set(self.tables.reverse()))
        self.wait_for(lambda: [row[0] for server in self.stack.mysql for row in server.query(
            "SELECT stopped <> '' FROM full_scan WHERE edges = 'following'")] == ["1", "1"], "both tables to stop")
        go_on = runbook.command_of("FanlineFullScanStands", "UPDATE full_scan SET stopped = '', allowed", "sql")
        for server in self.stack.mysql:
            server.query(go_on)
        self.wait_for(lambda: {edge[:2] for edge in edges} <= set(self.tables.reverse()), "the repairs")
        self.begun()
        self.wait_silent("FanlineFullScanStands")

    # ---- faults --------------------------------------------------------------------------------

    def set_right(self):
        """Users of counters that repairs changed, as the runbook has them asked for."""
        return {row[0] for row in self.ask_shards("FanlineCountersDrift", "SELECT src")}

    def repaired(self, cause):
        """As the runbook has it asked for."""
        return sum(int(many) for why, many in self.ask_shards("FanlineRepairsMany") if why == cause)

    def lose(self, *edges):
        """Changes that are in their forward rows and in relation-log, and that no mirror finds in log1."""
        self.tables.put_forward(*edges)
        self.log.written(*edges)
        self.begun()

    def users_of_rows(self):
        """Some who are followed, of both shards, as text."""
        followed = sorted(author for author, readers in self.ledger.followers.items() if readers)
        users = [user for shard in (0, 1) for user in [user for user in followed if shard_of(user) == shard][:MANY // 2]]
        self.assertEqual(len(users), MANY)
        return [str(user) for user in users]
