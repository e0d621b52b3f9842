"""Faults that the API's alerts are about, as its runbook tells of them: each alert fires, what the page
says to type shows the fault, and it ends with it."""

import contextlib
import re
import socket
import threading
import unittest

from stack.wire.mysql import MysqlError
from tests.e2e.installation import most_followed
from tests.e2e.meanwhile import again_and_again
from tests.e2e.relations import shard_of
from tests.e2e.timeline_pages_test import Application
from tests.monitoring import runbook
from tests.monitoring.loaded import Loaded
from tests.monitoring.watched import sees_fire

CONNECTIONS = 300
_TIMEOUT = 60


class ApiAlerts(Loaded):
    @classmethod
    def api_args(cls):
        cls.application = Application(cls.stack)
        return [*cls.application.options(), "--connections", CONNECTIONS]

    def setUp(self):
        super().setUp()
        self.serving = {"127.0.0.1:8080": f"127.0.0.1:{self.api.serving}"}
        self.admin = {"127.0.0.1:9405": self.at(self.api)}
        self.redis_cli = {"redis-cli": f"redis-cli -p {self.stack.redis.port}"}

    @sees_fire("FanlineApiClientsRefused")
    def test_1_more_clients_come_than_may_be_connected(self):
        with contextlib.ExitStack() as idle:
            self.connect(idle, CONNECTIONS + 5)
            self.wait_fires("FanlineApiClientsRefused", severity="ticket")
            said = self.type_of("FanlineApiClientsRefused", "curl", self.admin)
            self.assertRegex(said, rf"(?m)^fanline_api_connections {CONNECTIONS}$")
            self.assertRegex(said, r"(?m)^fanline_api_connections_(refused|closed_idle)_total [1-9]")
            whose = self.type_of("FanlineApiClientsRefused", "ss", {":8080": f":{self.api.serving}"})
            self.assertRegex(whose, rf"(?m)^ *{CONNECTIONS} 127\.0\.0\.1$")
            self.begun()
        self.wait_silent("FanlineApiClientsRefused")

    @sees_fire("FanlineBodiesAway")
    def test_2_the_applications_database_refuses_us(self):
        author, = most_followed(self.ledger)
        self.wait_for(lambda: '"id"' in self.api_says(f"/v1/users/{author}/posts"), "a post")
        with again_and_again(lambda: self.api_says(f"/v1/users/{author}/posts?limit=1&expand=body")):
            self.application.say("ALTER USER reader@127.0.0.1 ACCOUNT LOCK")
            self.stack.mysql[0].kill_connections("reader")
            self.wait_fires("FanlineBodiesAway", severity="page")
            said = self.type_of("FanlineBodiesAway", "curl", {**self.serving, "users/5": f"users/{author}"})
            self.assertEqual(said, '"bodies":"unavailable"\n')
            self.assertRegex((self.stack.logs / "api.log").read_text(), '"resource":"bodies","reason":"[^"]')
            self.begun()
            self.application.say("ALTER USER reader@127.0.0.1 ACCOUNT UNLOCK")
            self.wait_silent("FanlineBodiesAway")

    @sees_fire("FanlineApiErrors")
    def test_3_a_shard_is_away(self):
        self.addCleanup(lambda: self.stack.mysql[1].running or self.stack.mysql[1].start())
        self.stack.mysql[1].kill()
        self.wait_fires("FanlineApiErrors", severity="page", window="1h")
        self.wait_fires("FanlineApiErrors", severity="ticket", window="6h")
        of_it = next(reader for reader in self.readers if shard_of(reader) == 1)
        self.assertRegex(self.type_of("FanlineApiErrors", "curl -s http://127.0.0.1:9405/readyz", self.admin), '"mysql_1":"')
        said = self.type_of("FanlineApiErrors", "curl -s http://127.0.0.1:9405/metrics", self.admin)
        self.assertRegex(said, r'fanline_api_requests_total\{route="getPosts",status="5xx"\} [1-9]')
        said = self.type_of("FanlineApiErrors", "curl -si", {**self.serving, "users/5": f"users/{of_it}"})
        self.assertIn("HTTP/1.1 503", said)
        self.begun()
        self.stack.mysql[1].start()
        self.wait_silent("FanlineApiErrors", window="1h")

    @sees_fire("FanlineApiPagesSlow", "FanlineRebuildsWait")
    def test_4_a_long_statement_of_somebody_else_while_many_come_back(self):
        many = sorted(set().union(*self.ledger.followers.values()))[len(self.readers):]
        self.assertGreater(len(many), 150)
        failed_before = self.failed_rebuilds()
        holds = threading.Thread(target=self.hold_posts)
        holds.start()
        self.addCleanup(holds.join)
        with contextlib.ExitStack() as open_connections:
            for client, reader in zip(self.connect(open_connections, len(many)), many):
                client.sendall(f"GET /v1/users/{reader}/timeline HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            self.wait_fires("FanlineRebuildsWait", severity="ticket")
            said = self.type_of("FanlineRebuildsWait", "curl", self.admin)
            self.assertRegex(said, r"(?m)^fanline_api_rebuilds_waiting [1-9]\d\d$")
            self.wait_for(lambda: self.failed_rebuilds() > failed_before, "rebuilds to fail for this")
            self.wait_fires("FanlineApiPagesSlow", severity="page", route="getPosts")
            show, kill = (runbook.command_of("FanlineApiPagesSlow", begin, "sql").rstrip(";")
                          for begin in ("SHOW", "KILL"))
            found = self.stack.mysql[0].query(show)
            self.assertTrue(any("lock" in (row[6] or "") and "author_post" in (row[7] or "")
                                for row in found), found)
            longest = max((row for row in found if row[1] == "admin" and row[4] == "Query" and row[7] != show),
                          key=lambda row: int(row[5]))
            self.assertIn("SLEEP", longest[7])
            self.begun()
            self.stack.mysql[0].query(kill.replace("123", longest[0]))
            self.wait_silent("FanlineRebuildsWait")
        self.wait_silent("FanlineApiPagesSlow")

    @sees_fire("FanlineRebuildsFail", "FanlineRedisFull", "FanlineTimelinesNotLive")
    def test_5_redis_is_full(self):
        self.wait_silent("FanlineTimelinesNotLive")
        self.wait_silent("FanlineRebuildsFail")
        self.stack.redis.command("CONFIG", "SET", "maxmemory", "1mb")
        self.wait_fires("FanlineRedisFull", severity="page")
        self.wait_fires("FanlineTimelinesNotLive", severity="ticket")
        self.wait_fires("FanlineRebuildsFail", severity="ticket")
        self.assertEqual(self.type_of("FanlineTimelinesNotLive", "redis-cli PING", self.redis_cli), "PONG\n")
        self.assert_full(self.type_of("FanlineTimelinesNotLive", "redis-cli INFO", self.redis_cli))
        without = next(reader for reader in self.readers if self.posts_of(reader) is None)
        why = self.type_of("FanlineRebuildsFail", "feedctl", {
            "doctor 5": f"doctor {without}"}, codes=(1,))
        self.assertIn("is full: ", why)
        self.assert_full(self.type_of("FanlineRedisFull", "redis-cli INFO", self.redis_cli))
        self.begun()
        self.type_of("FanlineRedisFull", "redis-cli CONFIG", {**self.redis_cli, "8gb": "100mb"})
        for alert in ("FanlineRedisFull", "FanlineRebuildsFail", "FanlineTimelinesNotLive"):
            self.wait_silent(alert)

    def failed_rebuilds(self):
        """As the runbook has them asked for."""
        said = self.type_of("FanlineRebuildsWait", "curl", self.admin)
        return int(re.search(r'(?m)^fanline_api_rebuilds_total\{result="failed"\} (\d+)$', said)[1])

    def assert_full(self, said):
        used, most = (int(re.search(rf"(?m)^{name}:(\d+)", said)[1]) for name in ("used_memory", "maxmemory"))
        self.assertGreater(used, most)

    def connect(self, until, count):
        return [until.enter_context(socket.create_connection(("127.0.0.1", self.api.serving), _TIMEOUT))
                for _ in range(count)]

    def api_says(self, path):
        client = self.api.client()
        try:
            return client.get(path).text
        finally:
            client.close()

    def hold_posts(self):
        """As a backup that locks the table, until somebody ends it."""
        with self.stack.mysql[0].client() as client, contextlib.suppress(MysqlError, OSError):
            client.query("LOCK TABLES author_post WRITE")
            for _ in range(9):
                client.query("SELECT SLEEP(20)")
