"""What users of LocalStack rely on, on one stack for all tests of this file."""

import os
import stat
import unittest

from stack.local_stack import LocalStack, ServiceFailed, wait_until
from stack.tests.outside import accepts
from stack.wire.kafka import ask_cluster
from stack.wire.mysql import MysqlClient, MysqlError
from stack.wire.redis import RedisError


class ALocalStack(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stack = LocalStack(redis_appendonly=True, mysql_args=["--max-connections=123"],
                               say=lambda line: None).start()
        cls.addClassCleanup(cls.stack.stop)

    def test_gives_programs_five_variables(self):
        stack = self.stack
        shards = ",".join(f"tcp://127.0.0.1:{shard.port}/fanline" for shard in stack.mysql)
        env = dict(stack.env)
        self.assertGreaterEqual(len(env.pop("FANLINE_MYSQL_PASSWORD")), 24)
        self.assertEqual(env, {
            "FANLINE_KAFKA_BROKERS": f"127.0.0.1:{stack.kafka.port}",
            "FANLINE_REDIS": f"127.0.0.1:{stack.redis.port}",
            "FANLINE_MYSQL_SHARDS": shards,
            "FANLINE_MYSQL_USER": "fanline",
        })

    def test_redis_is_as_fanline_wants_it(self):
        for name, value in (("maxmemory-policy", "noeviction"), ("save", ""),
                            ("zset-max-listpack-entries", "512"), ("appendonly", "yes")):
            self.assertEqual(self.stack.redis.command("CONFIG", "GET", name), [name, value])
        with self.assertRaisesRegex(RedisError, "ERR unknown command"):
            self.stack.redis.command("NONSENSE")

    def test_shards_are_as_fanline_wants_them_and_take_further_settings(self):
        self.assertEqual(len(self.stack.mysql), 2)
        settings = ("@@innodb_flush_log_at_trx_commit, @@innodb_buffer_pool_size, @@local_infile, "
                    "@@character_set_server, @@log_bin, @@max_connections")
        for number, shard in enumerate(self.stack.mysql, start=1):
            self.assertEqual(shard.query(f"SELECT {settings}, @@server_id"),
                             [("2", str(256 << 20), "1", "utf8mb4", "0", "123", str(number))])

    def test_the_programs_account_owns_its_database_and_nothing_else(self):
        with self.program_client(0) as client:
            client.query("CREATE TABLE mine (id BIGINT PRIMARY KEY, word VARCHAR(9))")
            self.assertEqual(client.query("INSERT INTO mine VALUES (1, 'é'), (2, NULL)"), 2)
            rows = client.query("SELECT * FROM mine ORDER BY id")
            self.assertEqual(rows, [("1", "é"), ("2", None)])
            with self.assertRaisesRegex(MysqlError, "1227: .*SUPER"):
                client.query("SET GLOBAL max_connections = 10")

    def test_the_password_is_needed_and_in_no_log(self):
        with self.assertRaisesRegex(MysqlError, "1045: Access denied"):
            MysqlClient(self.stack.mysql[0].port, "fanline", "guess", "fanline")
        password = self.stack.env["FANLINE_MYSQL_PASSWORD"]
        for log in self.stack.logs.iterdir():
            self.assertNotIn(password, log.read_text())
        self.assertEqual(stat.S_IMODE(self.stack.logs.parent.stat().st_mode), 0o700)

    def test_services_come_back_after_a_kill_on_the_same_port_with_their_data(self):
        stack = self.stack
        stack.redis.command("SET", "kept", "1")
        stack.mysql[1].query("CREATE TABLE kept (id INT)")
        cluster, before = ask_cluster(stack.kafka.port), [s.address for s in stack.services]
        for service in stack.services:
            service.kill()
            self.assertFalse(service.running or accepts(service.port))
            service.start()
        self.assertEqual([s.address for s in stack.services], before)
        self.assertEqual(stack.redis.command("GET", "kept"), "1")
        self.assertEqual(stack.mysql[1].query("SELECT COUNT(*) FROM kept"), [("0",)])
        self.assertEqual(ask_cluster(stack.kafka.port), cluster)
        self.assertEqual(stack.failures(), [])

    def test_services_stop_in_order_and_start_again(self):
        for service in (self.stack.kafka, self.stack.mysql[0]):
            service.stop()
            self.assertFalse(service.running or service.failed)
            service.start()
            with self.assertRaisesRegex(ServiceFailed, "already running"):
                service.start()

    def test_a_paused_service_keeps_its_connections_and_answers_later(self):
        with self.stack.redis.client() as client:
            self.stack.redis.pause()
            client.send("PING")
            self.assertFalse(client.has_reply(within=0.3))
            self.stack.redis.resume()
            self.assertEqual(client.receive(), "PONG")

    def test_a_service_that_died_by_itself_is_named_with_its_last_words(self):
        redis = self.stack.redis
        with redis.client() as client:
            client.send("SHUTDOWN", "NOSAVE")
        wait_until(lambda: redis.failed, 120, "redis to be gone")
        failure, = self.stack.failures()
        self.assertRegex(failure, "(?s)^redis is gone; its last words:\n.*bye bye")
        redis.start()

    def test_spawned_programs_have_the_environment_a_group_and_a_log(self):
        script = 'echo "$FANLINE_REDIS $OWN"; sleep 1000 & sleep 1000; '
        program = self.stack.spawn("looper", ["/bin/sh", "-c", script], env={"OWN": 5})
        wait_until(lambda: "\n" in program.output(), 120, "its first line")
        self.assertEqual(program.tail(), f"{self.stack.redis.address} 5")
        self.assertEqual(program.log, self.stack.logs / "looper.log")
        self.assertEqual(os.getpgid(program.pid), program.pid)
        with self.assertRaisesRegex(TimeoutError, r"waited 0.1 s for looper \(pid \d+\) to exit"):
            program.wait(0.1)
        self.assertEqual(program.kill(), -9)
        self.assertFalse(program.running)

    def test_spawned_programs_are_terminated_and_killed_when_they_will_not_leave(self):
        def shell(name, script):
            return self.stack.spawn(name, ["/bin/sh", "-c", script])

        polite = shell("polite", "trap 'exit 3' TERM; echo; sleep 9 & wait")
        stubborn = shell("stubborn", "trap '' TERM; echo; sleep 9; sleep 9")
        for program in (polite, stubborn):
            wait_until(program.output, 5, f"{program.name} to set its trap")
        polite.pause()  # a stopped process is woken to take its leave
        self.assertEqual(polite.terminate(), 3)
        self.assertEqual(stubborn.terminate(timeout=0.2), -9)

    def program_client(self, shard):
        env = self.stack.env
        return MysqlClient(self.stack.mysql[shard].port, env["FANLINE_MYSQL_USER"],
                           env["FANLINE_MYSQL_PASSWORD"], "fanline")
