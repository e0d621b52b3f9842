"""A shard moves from MariaDB to MySQL and back by the commands of schemas/sql/README.md: every row arrives as it was, and
the programs go on."""

import os
import subprocess
import unittest

from pages import markdown
from stack.programs import BIN
from stack.services.mysql import DATABASE, USER, MariaDb, Mysql
from tests.e2e.decoding import ROOT
from tests.e2e.installation import USERS, Installation
from tests.e2e.relations import shard_of

EVERYBODY = range(1, USERS + 1)
MOVED = 1  # the shard
PAGE = markdown.section((ROOT / "schemas" / "sql" / "README.md").read_text(encoding="utf-8"), "Moving a shard to another server")
LARGE = 2**64 - 2
# Of tables that no program here fills, and what a dump may garble.
ODD_ROWS = [
    "setting VALUES ('odd', 0x00FF275C0A8022)",
    f"friend_request (low, high, ver, state, asked_by) VALUES (7, {LARGE}, {LARGE}, 2, {LARGE})",
    f"follower (dst, bucket, src, ver, state, pos) VALUES ({LARGE}, 1023, {LARGE}, 1, 0, -5)",
    "repair_log (net, cause, src, dst, before_value, after_value, ver) VALUES ('pair', 'lost', 1, 2, '', 'x', 3)",
    f"mute VALUES ({LARGE}, {LARGE}, 0x00FF275C0A8022FF)",
    f"recount (user_id, counter) VALUES ({LARGE}, 2)",
    f"author_post (author_id, post_id, created_at_ms) VALUES ({LARGE}, {LARGE}, NULL)",
]


def rows(shard):
    """Table -> its rows, in hexadecimal."""
    columns = {}
    with shard.client() as client:
        for table, column in client.query("SELECT table_name, column_name FROM information_schema.columns "
                                          "WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position"):
            columns.setdefault(table, []).append(f"HEX(CONCAT({column}))")
        return {table: sorted(client.query(f"SELECT {', '.join(names)} FROM {table}"), key=str)
                for table, names in columns.items()}


class MoveAShard(Installation):
    mirrors = 1

    def move(self, kind):
        """To a new server of that kind, while no program runs; the old server ends."""
        old, password = self.stack.mysql[MOVED], self.stack.env["FANLINE_MYSQL_PASSWORD"]
        new = self.stack.add(lambda *places: kind(f"new_{kind.kind}", *places, password))
        self.stack.env["FANLINE_MYSQL_SHARDS"] = self.stack.env["FANLINE_MYSQL_SHARDS"].replace(old.uri, new.uri)
        for name, server in (("old", old), ("new", new)):
            (self.stack.logs / f"{name}.cnf").write_text(
                f"[client]\nhost=127.0.0.1\nport={server.port}\nuser={USER}\npassword={password}\n")
        before = rows(old)
        command, = markdown.blocks(PAGE, "sh")
        subprocess.run(["/bin/bash", "-euc", command], cwd=self.stack.logs, check=True, timeout=120,
                       env={**os.environ, **self.stack.env, "PATH": f"{BIN}:{os.environ['PATH']}"})
        self.assertEqual(rows(new), before)
        self.assertGreater(sum(map(bool, before.values())), 12, "tables with rows")
        old.stop()
        self.stack.mysql[MOVED] = new

    def test_to_mysql_and_back(self):
        strangers = set(EVERYBODY) - self.ledger.followers[1] - {1}
        self.follow(next(user for user in sorted(strangers) if shard_of(user) == MOVED), 1)
        for row in ODD_ROWS:
            self.stack.mysql[MOVED].query(f"INSERT INTO {row}")
        self.make_live(EVERYBODY)
        for kind, name in ((Mysql, "MySQL"), (MariaDb, "MariaDB")):
            self.publish_all(EVERYBODY)
            self.settle()
            for daemon in self.fleet.daemons:
                daemon.stop()
            self.move(kind)
            self.publish_all(EVERYBODY)
            for daemon in self.fleet.daemons:
                daemon.start()
            self.fleet.wait_serving()
            self.settle()
            self.assert_exact(live=EVERYBODY)
            checks = {check["name"]: check for check in self.feedctl.json("doctor", "--json", codes=(0, 1))["checks"]}
            self.assertEqual(checks[f"shard {MOVED}"]["level"], "well", checks)
            self.assertIn(f"{name} ", checks[f"shard {MOVED}"]["text"])
