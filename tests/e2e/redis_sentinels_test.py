"""A master of Redis that Sentinels watch: when it fails, another takes its place, however far behind it
was. Everybody asks for a password here and speaks TLS, the Sentinels too."""

import time
import unittest

from tests.e2e.installation import USERS, Installation
from tests.e2e.security_test import acl_rules

EVERYBODY = range(1, USERS + 1)
RANGES = 16
PASSWORD = "n0des-s3cret"
SENTINELS_PASSWORD = "s3ntinels-s3cret"


class RedisBehindSentinels(Installation):
    stack_options = {"sentinels": True, "secure": True, "shards": 1}

    @classmethod
    def prepare_services(cls):
        cls.redis = cls.stack.redis
        for node in cls.redis.nodes:
            node.command(*acl_rules(PASSWORD))
        cls.redis.demand_password(SENTINELS_PASSWORD)
        file = cls.stack.logs / "sentinels.password"
        file.write_text(SENTINELS_PASSWORD + "\n")
        cls.stack.told = {
            "FANLINE_REDIS": cls.redis.tls_address,
            "FANLINE_REDIS_TLS_CA": cls.stack.certificates.authority,
            "FANLINE_REDIS_USER": "fanline",
            "FANLINE_REDIS_PASSWORD": PASSWORD,
            "FANLINE_REDIS_SENTINEL_PASSWORD_FILE": file,
        }

    def setUp(self):
        super().setUp()
        self.pusher, = self.fleet.pushers
        self.make_live(EVERYBODY)
        self.publish_all(list(EVERYBODY))
        self.settle()

    def test_a_replica_that_lagged_is_given_again_what_it_never_had(self):
        before = self.counter("fanline_hints_replayed_total")
        master, = self.redis.masters()
        replica = self.redis.let_lag(master)
        end = time.monotonic() + 1.5  # positions are saved once a second
        while time.monotonic() < end:
            self.publish_all(list(EVERYBODY))
        self.settle()
        master.kill()
        replica.resume()
        self.publish_all(list(EVERYBODY))
        self.redis.wait_master(replica)
        self.wait_for(lambda: self.fleet.ranges_ready() == RANGES, "the ranges to be claimed there")
        self.settle()
        self.assertGreater(self.counter("fanline_hints_replayed_total"), before)
        self.assert_exact()

        # The former one says that it is a master until a Sentinel has told it otherwise.
        takeovers = self.counter("fanline_takeovers_total")
        master.start()
        self.publish_all(list(EVERYBODY))
        self.settle()
        self.assertEqual(self.counter("fanline_takeovers_total"), takeovers)
        self.assertEqual(master.command("KEYS", "tl:*"), [])
        self.assert_exact()

    def test_while_all_sentinels_are_away_posts_arrive_and_a_start_waits(self):
        for sentinel in self.redis.sentinels:
            sentinel.stop()
        self.addCleanup(self.redis.start)
        self.publish_all(list(EVERYBODY))
        self.settle()
        self.assertEqual(self.fleet.ranges_ready(), RANGES)

        self.pusher.stop()
        self.pusher.start()
        said = self.wait_for(lambda: "refused" in self.answer() and self.answer(), "it to wait")
        self.assertIn(self.redis.sentinels[-1].told_address, said)
        self.redis.sentinels[1].start()  # one is enough
        self.fleet.wait_serving()
        self.settle()
        self.assert_exact()

    def answer(self):
        try:
            return self.pusher.get("/readyz")[1]
        except OSError:
            return ""
