"""Services that ask every program who it is, and talk to it over TLS; passwords that change while
programs run; and programs that were told wrong."""

import os
import re
import subprocess
import unittest

from stack.programs import BIN
from stack.services.mysql import BINLOG, USER
from tests.e2e.decoding import ROOT
from tests.e2e.installation import USERS, Installation

EVERYBODY = range(1, USERS + 1)
KAFKA, REDIS = "kafka", "redis"


def acl_rules(password, prefix=""):
    """As schemas/redis/README.md tells operators."""
    readme = (ROOT / "schemas" / "redis" / "README.md").read_text()
    block = re.search(r"^```\n(ACL SETUSER [^`]+)^```$", readme, re.M)[1]
    return block.replace("PASSWORD", password).replace("~", f"~{prefix}").split()


class SecuredServices(Installation):
    stack_options = {"secure": True, "mysql_args": BINLOG}
    mirrors = 1

    @classmethod
    def prepare_services(cls):
        cls.folder = cls.stack.certificates.authority.parent
        cls.passwords = set()
        cls.files = {service: cls.folder / f"{service}.password" for service in (KAFKA, REDIS)}
        cls.stack.redis.command(*acl_rules("placeholder"))
        for service in cls.files:
            cls.set_password(service, f"{service}-first-s3cret")
        for shard in cls.stack.mysql:
            shard.query(f"ALTER USER {USER}@127.0.0.1 REQUIRE SSL")
        properties = cls.folder / "kafka.properties"
        properties.write_text("security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\n"
                              f"ssl.ca.location={cls.stack.certificates.authority}\n")
        cls.stack.told = {
            "FANLINE_KAFKA_BROKERS": cls.stack.kafka.sasl_address,
            "FANLINE_KAFKA_USER": "fanline",
            "FANLINE_KAFKA_PASSWORD_FILE": cls.files[KAFKA],
            "FANLINE_KAFKA_PROPERTIES_FILE": properties,
            "FANLINE_MYSQL_TLS_CA": cls.stack.certificates.authority,
            "FANLINE_REDIS": cls.stack.redis.tls_address,
            "FANLINE_REDIS_TLS_CA": cls.stack.certificates.authority,
            "FANLINE_REDIS_USER": "fanline",
            "FANLINE_REDIS_PASSWORD_FILE": cls.files[REDIS],
        }

    @classmethod
    def set_password(cls, service, password, tell=True):
        """At the service, and in the file that programs read."""
        cls.passwords.add(password)
        if service == KAFKA:
            cls.stack.kafka.set_password("fanline", password)
        else:
            cls.stack.redis.command("ACL", "SETUSER", "fanline", "resetpass", f">{password}")
        if tell:
            cls.tell(service, password)

    @classmethod
    def tell(cls, service, password):
        """As a volume of Kubernetes changes: the old file or the new one, never half of one."""
        new = cls.files[service].with_suffix(".new")
        new.write_text(password + "\n")
        new.rename(cls.files[service])

    def deliver(self):
        self.publish_all(list(EVERYBODY))
        self.settle()
        self.assert_exact()

    def feedctl_says(self, *words, **told):
        env = {**os.environ, **self.stack.env, **self.stack.told, **told}
        return subprocess.run([BIN / "feedctl", *words], env=env, text=True, capture_output=True,
                              timeout=60)

    def log_of(self, daemon):
        return (self.stack.logs / f"{daemon.name}.log").read_text()

    def tearDown(self):
        for log in self.stack.logs.iterdir():
            if log.suffix in (".log", ".err"):
                text = log.read_text(errors="replace")
                for password in self.passwords:
                    self.assertNotIn(password, text, log)

    def test_posts_arrive_through_doors_that_ask(self):
        self.stack.redis.command("ACL", "LOG", "RESET")
        self.make_live(EVERYBODY)
        self.deliver()
        self.delete(1, self.publish(1))
        self.unfollow(*next(iter(self.ledger.edges())))
        self.settle()
        self.assert_exact()
        self.assertIn("user=fanline", self.stack.redis.command("CLIENT", "LIST"))
        self.assertEqual(self.stack.redis.command("ACL", "LOG"), [])

    def test_a_binary_log_is_read_over_tls(self):
        for shard in self.stack.mysql:
            shard.let_read_binlog()
        mirror, = self.fleet.mirrors
        for mode, read in (("log", 2), ("async", 0)):
            said = self.feedctl_says("relations", "mode", mode)
            self.assertEqual(said.returncode, 0, said.stderr)
            self.wait_for(lambda: mirror.scrape().total("fanline_rel_binlog_connected") == read,
                          f"{read} binary logs to be read")

    def test_new_passwords_hold_from_the_next_connection_on(self):
        self.make_live(EVERYBODY)
        self.set_password(REDIS, "redis-second-s3cret", tell=False)
        self.stack.redis.command("CLIENT", "KILL", "USER", "fanline")
        pusher, = self.fleet.pushers
        self.wait_for(lambda: "WRONGPASS" in pusher.get("/readyz")[1], "Redis to be closed to it")
        self.tell(REDIS, "redis-second-s3cret")
        self.set_password(KAFKA, "kafka-second-s3cret")
        self.stack.kafka.kill()
        self.stack.kafka.start()
        for daemon in self.fleet.daemons:
            daemon.wait_ready()
        self.deliver()

    def test_a_wrong_password_of_kafka_is_said_and_waited_out(self):
        dispatcher, = self.fleet.dispatchers
        dispatcher.stop()
        self.set_password(KAFKA, "kafka-third-s3cret", tell=False)
        dispatcher.start()
        self.wait_for(lambda: "refused our credentials" in dispatcher.get("/readyz")[1],
                      "it to say that its password is wrong")
        self.assertIn("refused our credentials", self.log_of(dispatcher))
        self.assertEqual(dispatcher.status("/healthz"), 200)
        said = self.feedctl_says("topics", "create")
        self.assertEqual(said.returncode, 78, said.stderr)
        self.assertIn("--kafka-password", said.stderr)
        self.tell(KAFKA, "kafka-third-s3cret")
        dispatcher.wait_ready()
        self.deliver()

    def test_a_server_that_a_stranger_vouches_for_is_refused(self):
        stranger = self.stack.certificates.stranger
        for env, advice in (
                ({"FANLINE_MYSQL_TLS_CA": stranger}, "--mysql-tls-ca"),
                ({"FANLINE_REDIS_TLS_CA": stranger}, "--redis-tls-ca"),
                ({"FANLINE_KAFKA_PROPERTIES": f"ssl.ca.location={stranger}"}, "ssl.ca.location")):
            with self.subTest(env=env):
                command = ["topics", "create"] if "ssl" in advice else ["audit"]
                said = self.feedctl_says(*command, **env)
                self.assertEqual(said.returncode, 78, said.stderr)
                self.assertIn(advice, said.stderr)
