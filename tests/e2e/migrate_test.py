"""feedctl migrate: tables by number, from those of the first version to those that the manual describes."""

import hashlib
import re
import unittest
from pathlib import Path

from stack.local_stack import LocalStack
from stack.programs.feedctl import Feedctl, FeedctlFailed

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "schemas" / "sql" / "migrations").glob("*.sql"))
# Nobody reads them any more; shards of then keep them.
LEFT_BEHIND = {"range_owner": {"last_offset", "starts"}}
# A file that shards have had is never changed: they will not have it once more. Only a new one is added here.
RELEASED = {
    "0001_one_tag_per_range.sql": "f0a217f9025c047b",
    "0002_range_start.sql": "9fc2274c71809965",
    "0003_author_mode.sql": "9be975cc2944edb1",
    "0004_own_posts.sql": "ed8f48f97266e363",
    "0005_changes_until.sql": "2174e4b3a9d7facd",
}
# Compared by every feedctl and made anew where they differ, unless the shard has had a migration that it does not know (decision 33). So who changes one adds a
# file to migrations, even one without a statement, and what procedures are with it: here, too, entries are only added.
PROCEDURES = {
    "0005_changes_until.sql": {"change_edge.sql": "8cb2a33c3e177c8e", "follow_edge.sql": "7ae47d692cfeef98"},
}


def digests(paths):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in paths}


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


def without_left_behind(found):
    return {table: [row for row in rows if row[0] not in LEFT_BEHIND.get(table, ())] for table, rows in found.items()}


class Files(unittest.TestCase):
    def test_released_files_are_as_they_were(self):
        self.assertEqual(digests(FILES), RELEASED)

    def test_procedures_that_changed_came_with_a_file(self):
        came_with, last = list(PROCEDURES.items())[-1]
        self.assertEqual(digests((ROOT / "schemas" / "sql").glob("*_edge.sql")), last)
        self.assertLessEqual(set(PROCEDURES), {path.name for path in FILES})
        self.assertEqual(sorted(PROCEDURES), list(PROCEDURES), came_with)


class Migrate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stack = LocalStack(say=lambda line: None)
        cls.addClassCleanup(cls.stack.stop)
        cls.stack.start()
        cls.feedctl = Feedctl(cls.stack)
        with cls.stack.mysql[0].client() as client:
            client.query("CREATE DATABASE manual")
            client.query("USE manual")
            for statement in statements(ROOT / "schemas" / "sql" / "shard.sql"):
                client.query(statement)
            cls.manual = columns(client)

    def setUp(self):
        for shard in self.stack.mysql:
            with shard.client() as client:
                client.query("DROP DATABASE fanline")
                client.query("CREATE DATABASE fanline")

    def columns(self, shard):
        with self.stack.mysql[shard].client() as client:
            return columns(client)

    def make_first(self):
        """Every shard as `feedctl init` of the first version left it, with a row that must stay."""
        for number, shard in enumerate(self.stack.mysql):
            for statement in statements(ROOT / "tests" / "upgrades" / "first" / "shard.sql"):
                shard.query(statement)
            shard.query("INSERT INTO installation VALUES (1, 5, 1024, 16, 2, "
                        f"{number}, '0-511:0,512-1023:1', 77, 'feed-events', 'fanout-tasks', 450, 512, 5000)")
            shard.query("INSERT INTO range_owner VALUES (3, 9, 41, 2)")

    def refused(self, why, *words):
        """With nothing made, nor by a dry run."""
        before = [self.columns(shard) for shard in (0, 1)]
        for dry in ((), ("--dry-run",)):
            with self.assertRaisesRegex(FeedctlFailed, f"ended with 78: .*{why}"):
                self.feedctl.run("migrate", *dry, *words)
        self.assertEqual([self.columns(shard) for shard in (0, 1)], before)

    def test_empty_shards_are_told_of_init_and_become_by_it_what_the_manual_says(self):
        self.refused("mysql_0: .*run feedctl init")
        self.feedctl.run("init")
        for shard in (0, 1):
            self.assertEqual(self.columns(shard), self.manual)
        made = self.stack.mysql[1].query("SELECT number, file FROM migration ORDER BY number")
        self.assertEqual(made, [(str(number), path.name) for number, path in enumerate(FILES, 1)])
        self.assertEqual(self.feedctl.run("migrate"), "mysql_0: made 0 migrations\nmysql_1: made 0 migrations\n")

    def test_shards_of_the_first_version_become_it_and_keep_their_rows(self):
        self.make_first()
        before = [self.columns(shard) for shard in (0, 1)]
        self.assertNotEqual(without_left_behind(before[0]), self.manual)
        plan = self.feedctl.run("migrate", "--dry-run")
        self.assertEqual([self.columns(shard) for shard in (0, 1)], before)
        self.assertEqual(self.feedctl.json("migrate", "--json", "--dry-run")["shards"], [[path.name for path in FILES]] * 2)
        self.assertIn("CREATE TABLE IF NOT EXISTS range_start", plan)

        self.feedctl.run("migrate")
        for number, shard in enumerate(self.stack.mysql):
            self.assertEqual(without_left_behind(self.columns(number)), self.manual)
            self.assertEqual(shard.query("SELECT generation, own_posts FROM installation"), [("77", "0")])
            self.assertEqual(shard.query("SELECT epoch FROM range_owner"), [("9",)])
        self.assertIn("installed", self.feedctl.run("init"))
        self.assertEqual(self.stack.mysql[0].query("SELECT generation FROM installation"), [("77",)])
        self.assertNotIn("CREATE TABLE", self.feedctl.run("migrate", "--dry-run"))

    def test_what_a_dry_run_prints_does_it_by_hand(self):
        self.make_first()
        plan = self.feedctl.run("migrate", "--dry-run")
        for number, part in enumerate(plan.split("-- mysql_")[1:]):
            self.assertTrue(part.startswith(f"{number}: "))
            for statement in re.sub(r"(?m)^(--|\d: ).*$", "", part).split(";"):
                if statement.strip():
                    self.stack.mysql[number].query(statement)
            self.assertEqual(without_left_behind(self.columns(number)), self.manual)
        self.assertEqual(self.feedctl.json("migrate", "--json")["shards"], [[], []])

    def test_procedures_that_differ_are_made_anew_also_where_nothing_is_missing(self):
        self.feedctl.run("init")
        shard = self.stack.mysql[0]
        for procedure in ("change_edge", "follow_edge"):
            shard.query(f"CREATE OR REPLACE PROCEDURE {procedure}() SELECT 1")
        self.feedctl.run("migrate")
        self.assertEqual(shard.query("SELECT DISTINCT specific_name FROM information_schema.parameters "
                                     "WHERE specific_schema = DATABASE() ORDER BY 1"), [("change_edge",), ("follow_edge",)])

    def test_another_schema_is_refused_and_left_alone(self):
        self.make_first()
        self.stack.mysql[1].query("UPDATE installation SET schema_version = 4")
        self.refused("mysql_1: .*schema_version is 4")
        self.stack.mysql[1].query("UPDATE installation SET schema_version = 6")
        self.refused("mysql_1: .*schema_version is 6.* a newer version made it")

    def test_shards_that_are_not_all_or_not_in_order_are_refused_and_left_alone(self):
        self.make_first()
        first, second = self.stack.env["FANLINE_MYSQL_SHARDS"].split(",")
        self.refused("mysql_0: its shard_count is 2, this program was given 1 shards", "--mysql-shards", first)
        self.refused("mysql_0: its shard_index is 1", "--mysql-shards", f"{second},{first}")
        self.stack.mysql[1].query("DELETE FROM installation")
        self.refused("mysql_1: .*run feedctl init")

    def test_an_older_program_leaves_what_a_newer_one_made(self):
        self.feedctl.run("init")
        newer = self.stack.mysql[1]
        newer.query("INSERT INTO migration (number, file) VALUES (4321, '4321_later.sql')")
        newer.query("CREATE OR REPLACE PROCEDURE change_edge() SELECT 1")
        self.refused("mysql_1: it has had migration 4321")
        self.assertIn("installed", self.feedctl.run("init"))  # as a chart of before does
        arguments = ("SELECT DISTINCT specific_name FROM information_schema.parameters "
                     "WHERE specific_schema = DATABASE() AND specific_name = 'change_edge'")
        self.assertEqual(newer.query(arguments), [], "the newer one")
        self.assertEqual(self.stack.mysql[0].query(arguments), [("change_edge",)])


if __name__ == "__main__":
    unittest.main()
