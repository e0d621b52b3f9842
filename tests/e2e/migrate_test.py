"""feedctl migrate: tables by number. Today's feedctl makes an installation, and the feedctl of a later version
(tests/upgrades/later_migrations.cpp) finds what its tables lack."""

import re
import unittest
from pathlib import Path

from stack.local_stack import LocalStack
from stack.programs import BIN
from stack.programs.feedctl import Feedctl, FeedctlFailed

ROOT = Path(__file__).resolve().parents[2]
LATER = ["0001_later_columns.sql", "0002_later_table.sql"]


def statements(script):
    text = re.sub(r"--.*", "", script.read_text(encoding="utf-8"))
    return [each for each in text.split(";") if each.strip()]


def columns(client):
    """Table -> [(column, type, nullable, default, extra, key)], in order, and its keys."""
    rows = client.query("SELECT table_name, column_name, column_type, is_nullable, column_default, extra, column_key "
                        "FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position")
    keys = client.query("SELECT table_name, index_name, seq_in_index, column_name, collation, non_unique "
                        "FROM information_schema.statistics WHERE table_schema = DATABASE() ORDER BY 1, 2, 3")
    found = {}
    for table, *rest in (*rows, *keys):
        found.setdefault(table, []).append(tuple(rest))
    return found


class Migrate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stack = LocalStack(say=lambda line: None)
        cls.addClassCleanup(cls.stack.stop)
        cls.stack.start()
        cls.feedctl, cls.later = Feedctl(cls.stack), Feedctl(cls.stack)
        cls.later.programs = BIN / "later"
        with cls.stack.mysql[0].client() as client:
            client.query("CREATE DATABASE base")
            client.query("USE base")
            for statement in statements(ROOT / "schemas" / "sql" / "shard.sql"):
                client.query(statement)
            cls.base = columns(client)

    def setUp(self):
        for shard in self.stack.mysql:
            with shard.client() as client:
                client.query("DROP DATABASE fanline")
                client.query("CREATE DATABASE fanline")

    def columns(self, shard):
        with self.stack.mysql[shard].client() as client:
            return columns(client)

    def migrations(self, shard):
        return self.stack.mysql[shard].query("SELECT number, file FROM migration ORDER BY number")

    def install(self):
        """By today's feedctl, with a row that must stay."""
        self.feedctl.run("init")
        for shard in self.stack.mysql:
            shard.query("INSERT INTO range_owner VALUES (3, 9)")

    def refused(self, feedctl, why, *words):
        """With nothing made, nor by a dry run."""
        before = [self.columns(shard) for shard in (0, 1)]
        for dry in ((), ("--dry-run",)):
            with self.assertRaisesRegex(FeedctlFailed, f"ended with 78: .*{why}"):
                feedctl.run("migrate", *dry, *words)
        self.assertEqual([self.columns(shard) for shard in (0, 1)], before)

    def test_an_account_without_the_rights_is_told_which_it_lacks(self):
        password = self.stack.env["FANLINE_MYSQL_PASSWORD"]
        for shard in self.stack.mysql:
            shard.query(f"CREATE USER few@127.0.0.1 IDENTIFIED BY '{password}'")
            shard.query("GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE ON fanline.* TO few@127.0.0.1")
        with self.assertRaisesRegex(FeedctlFailed, "ended with 78: .*shard 0 at .*CREATE ROUTINE and ALTER "
                                    "ROUTINE") as told:
            self.feedctl.run("init", "--mysql-user", "few")
        self.assertNotIn("still be at work", str(told.exception))

    def test_a_later_version_makes_what_is_missing_and_keeps_the_rows(self):
        self.install()
        plan = self.later.run("migrate", "--dry-run")
        self.assertEqual(self.columns(0), self.base)
        self.assertEqual(self.later.json("migrate", "--json", "--dry-run")["shards"], [LATER] * 2)
        self.assertIn("CREATE TABLE IF NOT EXISTS later_table", plan)

        self.later.run("migrate")
        for number, shard in enumerate(self.stack.mysql):
            self.assertEqual([file for _, file in self.migrations(number)], ["shard.sql", *LATER])
            self.assertEqual(set(self.columns(number)) - set(self.base), {"later_table"})
            self.assertEqual(shard.query("SELECT later FROM installation"), [("7",)])
            self.assertEqual(shard.query("SELECT epoch FROM range_owner"), [("9",)])
        self.assertIn("installed", self.later.run("init"))
        self.assertNotIn("CREATE TABLE", self.later.run("migrate", "--dry-run"))

    def test_a_new_installation_of_a_later_version_has_the_tables_of_a_migrated_one(self):
        self.install()
        self.later.run("migrate")
        migrated = self.columns(1)
        self.setUp()
        self.later.run("init")
        self.assertEqual(self.columns(1), migrated)

    def test_what_a_dry_run_prints_does_it_by_hand(self):
        self.install()
        plan = self.later.run("migrate", "--dry-run")
        for number, part in enumerate(plan.split("-- mysql_")[1:]):
            self.assertTrue(part.startswith(f"{number}: "))
            for statement in re.sub(r"(?m)^(--|\d: ).*$", "", part).split(";"):
                if statement.strip():
                    self.stack.mysql[number].query(statement)
            self.assertIn("later_table", self.columns(number))
        self.assertEqual(self.later.json("migrate", "--json")["shards"], [[], []])

    def test_an_older_program_leaves_what_a_newer_one_made(self):
        self.install()
        self.later.run("migrate")
        self.stack.mysql[0].query("DROP TABLE later_table")
        self.stack.mysql[0].query("DELETE FROM migration WHERE number > 0")  # as if it had been interrupted
        for shard in self.stack.mysql:
            shard.query("DROP PROCEDURE change_edge")
            shard.query("CREATE PROCEDURE change_edge() SELECT 1")
        self.refused(self.feedctl, "shard 1 at .*: it has had migration 2, this program knows those up to 0")
        self.assertIn("installed", self.feedctl.run("init"))  # as the chart of the version before does
        arguments = ("SELECT DISTINCT specific_name FROM information_schema.parameters "
                     "WHERE specific_schema = DATABASE() AND specific_name = 'change_edge'")
        self.assertEqual(self.stack.mysql[1].query(arguments), [], "the newer one")
        self.assertEqual(self.stack.mysql[0].query(arguments), [("change_edge",)])
