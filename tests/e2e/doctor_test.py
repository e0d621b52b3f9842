"""feedctl doctor: one screen about an installation and about a reader, also while services are away."""

import os
import subprocess
import time
import unittest

from confluent_kafka.admin import AdminClient

from stack.local_stack import LocalStack
from stack.programs import BIN
from stack.programs.feedctl import Feedctl
from stack.programs.fleet import FEED, TASKS
from stack.services.mysql import MariaDb
from stack.waiting import wait_until
from tests.e2e.installation import Installation, most_followed
from tests.e2e.relations import shard_of

WELL, FOUND, NOBODY, AWAY, NOT_INSTALLED = 0, 1, 67, 69, 78
# Every line of a whole look.
LINES = ["shard 0", "shard 1", "Redis", "pushers", "takeovers", "feed-events (fanline-dispatcher)",
         "fanout-tasks (fanline-pusher)", "relation-events (fanline-mirror-events)",
         "relation-log (fanline-reconciler)", "relation-log (fanline-reconciler-later)",
         "relation-log.retry (fanline-reconciler-retry)", "log scan", "full scan"]
_PATIENCE = 60


class Doctor(Installation):
    ranges = 4
    mirrors = 1

    def doctor(self, *words, codes, options=()):
        """Its checks by name; `codes`: what it may end with."""
        said = self.feedctl.json("doctor", *words, "--json", *options, codes=codes)
        for check in said["checks"]:
            if check["level"] != "note":
                self.assertEqual(check["advice"] is None, check["level"] == "well", check)
        return {check["name"]: check for check in said["checks"]}

    def assert_whole(self, checks):
        """What is away takes no line away; a line that nobody can know says so."""
        self.assertEqual([line for line in LINES if line not in checks], [])

    def wait_for_code(self, code, *words):
        """Its checks by name, as soon as it ends so."""
        wait_until(lambda: self.code(*words) == code, _PATIENCE, f"doctor to end with {code}")
        return self.doctor(*words, codes=(code,))

    def code(self, *words):
        return subprocess.run([BIN / "feedctl", "doctor", *words], capture_output=True, timeout=60,
                              env={**os.environ, **self.stack.env}).returncode

    def assert_levels(self, checks, **levels):
        for name, level in levels.items():
            name = name.replace("_", " ")
            self.assertEqual(checks[name]["level"], level, checks[name])

    def test_1_all_is_well(self):
        checks = self.wait_for_code(WELL)
        self.assert_levels(checks, Redis="well", pushers="well", takeovers="well")
        self.assertRegex(checks["Redis"]["text"], r", (Redis|Valkey) \d+\.")
        self.assertEqual(checks["pushers"]["text"], "1 pusher for 4 ranges")
        self.assertEqual(checks["fanout-tasks (fanline-pusher)"]["text"], "1 reader")
        self.assertEqual(checks["relation-log (fanline-reconciler)"]["advice"], "start fanline-reconciler")
        self.assertEqual(checks["log scan"]["advice"], "start fanline-reconciler")
        text = self.feedctl.run("doctor")
        self.assertIn("all is well", text)
        self.assertLess(len(text.splitlines()), 30, "one screen")

    def test_2_a_reader_is_told_whole(self):
        author, = most_followed(self.ledger, 1)
        reader = min(self.ledger.followers[author])
        self.make_live([reader])
        post = self.publish(author)
        self.settle()
        checks = self.doctor(reader, codes=(WELL,))
        self.assertIn("live, 1 item, ", checks["state"]["text"])
        self.assertIn(f"post {post}, created 20", checks["newest items"]["text"])
        self.assertEqual(checks["compared"]["text"], "holds what the shards say")
        self.assertIn("1 of them posted", checks["follows"]["text"])
        self.assertIn("named by the range's index", checks["index"]["text"])
        self.assertIn("minutes more", checks["lives for"]["text"])
        key, = self.stack.redis.command("KEYS", f"tl:*:{reader}")
        self.take_out(reader, post)
        compared = self.doctor(reader, codes=(FOUND,))["compared"]
        self.assertIn(f"missing post {post}", compared["text"])
        self.stack.redis.command("DEL", key)
        self.assertIn("not live", self.doctor(reader, codes=(WELL,))["state"]["text"])
        self.assertEqual(self.code("999999999"), NOBODY)
        self.assertEqual(self.code("someone"), 64)

    def test_3_a_full_redis_is_found(self):
        self.stack.redis.command("CONFIG", "SET", "maxmemory", "1")
        try:
            told = self.doctor(codes=(FOUND,))["Redis"]
            self.assertIn("maxmemory is 1: it takes no timeline", told["text"])
            self.assertIn("fanlineredisfull", told["runbook"])
            self.assertIn("CONFIG SET maxmemory", told["advice"])
            reader = min(self.ledger.followers[most_followed(self.ledger, 1)[0]])
            of_reader = self.feedctl.json("doctor", reader, "--json", codes=(FOUND,))["checks"]
            stores = [check for check in of_reader if check["section"] == "stores"]
            self.assertEqual([(check["level"], check["runbook"]) for check in stores], [("look", told["runbook"])])
        finally:
            self.stack.redis.command("CONFIG", "SET", "maxmemory", "0")

    def test_3_tables_that_are_newer_or_older_are_told(self):
        """As a feedctl of another version finds them."""
        shard = self.stack.mysql[1]
        shard.query("INSERT INTO migration (number, file) VALUES (4321, '4321_later.sql')")
        try:
            told = self.doctor(codes=(WELL, FOUND))["shard 1"]
            self.assertEqual(told["level"], "note")
            self.assertIn("they have had migration 4321", told["text"])
        finally:
            shard.query("DELETE FROM migration WHERE number = 4321")
        shard.query("DELETE FROM migration WHERE number = 0")
        try:
            checks = self.doctor(codes=(FOUND,))
            self.assert_whole(checks)
            self.assertIn("they lack shard.sql", checks["shard 1"]["text"])
            self.assertEqual(checks["shard 1"]["advice"], "feedctl migrate")
        finally:
            self.feedctl.run("migrate")

    def test_4_a_procedure_that_is_missing_or_anothers_is_told(self):
        self.stack.mysql[1].query("DROP PROCEDURE change_edge")
        try:
            told = self.doctor(codes=(FOUND,))["shard 1"]
            self.assertEqual(told["level"], "look")
            self.assertIn("no procedure change_edge,", told["text"])
            self.feedctl.run("migrate")
            self.stack.mysql[1].query("ALTER PROCEDURE change_edge COMMENT 'of another version'")
            told = self.doctor(codes=(FOUND,))["shard 1"]
            self.assertIn("procedure change_edge is of another version", told["text"])
            self.assertEqual(told["advice"], "feedctl migrate")
        finally:
            self.feedctl.run("migrate")

    def test_5_a_shard_that_is_away_hides_nothing_else(self):
        self.stack.mysql[0].kill()
        try:
            checks = self.doctor(codes=(AWAY,))
            self.assertEqual(checks["shard 0"]["level"], "away")
            self.assert_whole(checks)
            self.assertIn("cannot reach shard 0", checks["shard 0"]["text"])
            self.assertEqual(checks["shard 0"]["advice"], "start it or set --mysql-shards / FANLINE_MYSQL_SHARDS")
            self.assertEqual(checks["shard 1"]["level"], "well")
            of_reader = self.doctor(self.reader_of_shard_1_who_follows_shard_0(), codes=(AWAY,))
            self.assert_levels(of_reader, follows="well", followers="well", their_posts="away")
            self.assert_levels(checks, Redis="well", pushers="well")
        finally:
            self.stack.mysql[0].start()

    def reader_of_shard_1_who_follows_shard_0(self):
        return next(reader for author, readers in self.ledger.followers.items() if shard_of(author) == 0
                    for reader in sorted(readers) if shard_of(reader) == 1)

    def test_6_redis_and_kafka_are_away(self):
        self.stack.redis.kill()
        try:
            checks = self.doctor(codes=(AWAY,))
            self.assert_whole(checks)
            self.assert_levels(checks, Redis="away", pushers="well", takeovers="note")
            self.assertEqual(checks["takeovers"]["text"], "not known: Redis is away")
            self.assertEqual(checks["shard 1"]["level"], "well")
            self.assertNotEqual(checks["fanout-tasks (fanline-pusher)"]["level"], "away")
            reader = min(self.ledger.followers[most_followed(self.ledger, 1)[0]])
            of_reader = self.doctor(reader, codes=(AWAY,))
            self.assert_levels(of_reader, Redis="away", follows="well")
        finally:
            self.stack.redis.start()
        begin = time.monotonic()
        checks = self.doctor(codes=(AWAY,), options=("--kafka-brokers", "127.0.0.1:1"))
        self.assertLess(time.monotonic() - begin, 30)
        self.assert_whole(checks)
        self.assertEqual(checks["feed-events (fanline-dispatcher)"]["level"], "away")
        self.assert_levels(checks, pushers="note")

    def test_8_a_topic_that_is_missing_is_no_kafka_that_is_away(self):
        reader = min(self.ledger.followers[most_followed(self.ledger, 1)[0]])
        kafka = AdminClient({"bootstrap.servers": self.stack.kafka.address})
        for gone in kafka.delete_topics([TASKS]).values():
            gone.result(60)
        wait_until(lambda: TASKS not in kafka.list_topics(timeout=60).topics, _PATIENCE, "the end of the topic")
        checks = self.doctor(reader, codes=(FOUND,))
        self.assert_levels(checks, hints="look")
        self.assertEqual(checks["hints"]["advice"], "feedctl topics create")


class Uninstalled(unittest.TestCase):
    """Services, and nothing of Fanline's in them."""

    doctor, assert_whole = Doctor.doctor, Doctor.assert_whole

    @classmethod
    def setUpClass(cls):
        cls.stack = LocalStack(say=lambda line: None)
        cls.addClassCleanup(cls.stack.stop)
        cls.stack.start()
        cls.feedctl = Feedctl(cls.stack)

    def test_where_init_has_not_been_run_is_told_so_and_what_is_there(self):
        checks = self.doctor(codes=(NOT_INSTALLED,))
        self.assert_whole(checks)
        for shard in (0, 1):
            told = checks[f"shard {shard}"]
            self.assertEqual((told["level"], told["advice"]), ("not_installed", "feedctl init"))
            self.assertRegex(told["text"], r"^(MariaDB|MySQL) \d+\.")
        self.assertEqual(checks["Redis"]["level"], "well")
        self.assertEqual(checks["pushers"]["text"], "not known before feedctl init")
        self.assertEqual(checks[f"{FEED} (fanline-dispatcher)"]["advice"], "feedctl topics create")
        of_reader = self.doctor(5, codes=(NOT_INSTALLED,))
        self.assertRegex(of_reader["user 5"]["text"], "^bucket [0-9]+; the rest is not known before feedctl init$")

    def test_a_server_that_cannot_be_a_shard_is_refused_by_name(self):
        """MariaDB says of itself what it is told to say."""
        password = self.stack.env["FANLINE_MYSQL_PASSWORD"]
        tidb = self.stack.add(lambda *places: MariaDb("tidb", *places, password,
                                                      args=["--version=8.0.11-TiDB-v7.5.1"]))
        env = {**os.environ, **self.stack.env, "FANLINE_MYSQL_SHARDS": tidb.uri}
        for program, *words in (["feedctl", "init"], ["fanline-dispatcher", "--admin-listen", "127.0.0.1:0"],
                                ["fanline-api", "--admin-listen", "127.0.0.1:0", "--listen", "127.0.0.1:0"],
                                ["feedctl", "audit"]):
            with self.subTest(program):
                ended = subprocess.run([BIN / program, *words], env=env, capture_output=True, text=True, timeout=60)
                self.assertEqual(ended.returncode, 78, ended.stderr)
                self.assertRegex(ended.stderr, r"shard 0 at \S+/fanline: TiDB \(8.0.11-TiDB-v7.5.1\) has no stored")
                self.assertNotIn("UPDATE installation", ended.stderr)
                self.assertNotIn("feedctl init creates", ended.stderr)
        ended = subprocess.run([BIN / "feedctl", "doctor"], env=env, capture_output=True, text=True, timeout=60)
        self.assertEqual(ended.returncode, NOT_INSTALLED, ended.stdout)
        self.assertRegex(ended.stdout, r"UNFIT shard 0 .*TiDB")
        self.assertIn("runbooks/refusals.md", ended.stdout)
