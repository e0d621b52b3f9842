"""What is too long for every `make test`: nodes of a Redis Cluster that fail while a slot moves between
them; a rack of them that hangs; and a Cluster that speaks TLS and asks who comes."""

import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from statistics import median

from tests.e2e.on_a_cluster import EVERYBODY, RANGES, OnACluster, slot_of
from tests.e2e.reading import Reading
from tests.e2e.relations import bucket_of
from tests.e2e.security_test import acl_rules


class NodesThatFailWhileASlotMoves(OnACluster):
    MOVING = 1

    def setUp(self):
        super().setUp()
        self.slot = slot_of(self.MOVING)
        self.source = self.cluster.owner(self.slot)
        self.target = self.other_master(self.source)

    def move_some(self, wanted):
        """Of the keys of the moving slot those that begin so."""
        keys = [key for key in self.source.command("CLUSTER", "GETKEYSINSLOT", self.slot, 1000)
                if key.startswith(wanted)]
        self.source.command("MIGRATE", "127.0.0.1", self.target.peers_port, "", 0, 5000, "KEYS",
                            *keys)

    def move(self, target):
        """To the end, as redis-cli --cluster fix does."""
        self.cluster.begin_move(self.slot, target)
        self.cluster.move_keys(self.slot, target)
        self.cluster.end_move(self.slot, target)

    def assert_all_is_as_it_should_be(self):
        self.wait_served()
        self.settle()
        self.assert_exact()
        self.make_live(EVERYBODY)
        self.publish_all(list(EVERYBODY))
        self.settle()
        self.assert_exact(live=EVERYBODY)

    def fails_over_with_what_had_moved(self, wanted):
        """The target, of whose replica nobody knows that a slot was on its way."""
        self.cluster.begin_move(self.slot, self.target)
        replica, theirs = self.cluster.let_lag(self.target), self.ranges_of(self.target)
        self.move_some(wanted)
        self.publish_for(1.5)
        least = self.fail_over(self.target, replica)
        self.assertGreaterEqual(least, RANGES - len(theirs), "ranges of other nodes noticed")
        self.wait_served()
        post = self.publish(1)
        elsewhere = self.ledger.followers[1] - self.readers_of(self.MOVING)
        self.wait_for(lambda: all(post in (self.posts_of(each) or [post]) for each in elsewhere),
                      "the ranges that do not move", 20)
        # It follows its successor only while that has no more slots than it took over.
        self.target.start()
        self.cluster.wait_whole()
        self.move(replica)
        self.assert_all_is_as_it_should_be()

    def readers_of(self, number):
        return {reader for reader in EVERYBODY if bucket_of(reader) // (1024 // RANGES) == number}

    def test_a_target_that_fails_over_and_loses_timelines_that_had_come(self):
        self.fails_over_with_what_had_moved("tl:")

    def test_a_target_that_fails_over_and_loses_whose_the_range_is_and_how_far(self):
        self.fails_over_with_what_had_moved(("own:", "pos:"))

    def test_a_target_that_fails_over_and_loses_the_index(self):
        self.fails_over_with_what_had_moved(("live:", "maxfloor:"))

    def test_both_fail_over(self):
        """The new source knows nothing of the move: it serves the slot, without what had left."""
        self.cluster.begin_move(self.slot, self.target)
        self.move_some(("tl:", "pos:", "live:"))
        for node in (self.source, self.target):
            replica = self.cluster.let_lag(node)
            self.publish_for(1.5)
            self.fail_over(node, replica)
        for node in (self.source, self.target):
            node.start()
        self.cluster.wait_whole()  # the first target would not have heard of the new source
        self.wait_served()
        self.settle()
        for master in self.cluster.masters():
            if master is not self.cluster.owner(self.slot):
                self.cluster.delete_left_behind(self.slot, master)
        self.assert_all_is_as_it_should_be()
        self.move(self.other_master(self.cluster.owner(self.slot)))
        self.assert_all_is_as_it_should_be()


class ARackHangs(Reading, OnACluster):
    ROUNDS = 5
    SLOWER = 0.5  # seconds

    def test_three_hosts_that_hang_keep_claims_and_pages_no_longer_than_one(self):
        one, rack = [], []
        for _ in range(self.ROUNDS):
            one.append(self.hang(0))
            rack.append(self.hang(2))
        for what, alone, together in zip(("claims", "pages"), zip(*one), zip(*rack)):
            print(f"{what}: one host {median(alone):.2f} s of {sorted(alone)}, "
                  f"a rack {median(together):.2f} s of {sorted(together)}")
            with self.subTest(what):
                self.assertLessEqual(median(together), median(alone) + self.SLOWER)

    def hang(self, others):
        """A master hangs, and so many replicas of other masters with it; after how many seconds all
        ranges are claimed again, and a reader of his has a page of the live timeline."""
        master = self.cluster.owner(slot_of(0))
        replicas = [self.cluster.replica_of(each) for each in self.cluster.masters()
                    if each is not master]
        theirs, before = self.ranges_of(master), self.takeovers()
        reader = master.command("KEYS", "tl:*")[0].rsplit(":", 1)[1]
        hosts = [master, *replicas[:others]]
        for host in hosts:
            host.pause()
        begin = time.monotonic()

        def claimed():
            return (self.takeovers() - before >= len(theirs) and
                    self.fleet.ranges_ready() == RANGES)

        def served():
            return self.get(f"{reader}/timeline")["state"] == "live"

        def after(happens):
            self.wait_for(happens, happens.__name__, 60)
            return round(time.monotonic() - begin, 2)

        try:
            with ThreadPoolExecutor(2) as pool:
                return tuple(pool.map(after, (claimed, served)))
        finally:
            for host in hosts:
                host.resume()
            self.cluster.wait_whole()
            self.wait_served()
            self.settle()


class AManagedCluster(OnACluster):
    """As services sell one: its nodes call each other by address, but have a certificate for its name alone;
    and CONFIG is refused."""
    stack_options = {"cluster": True, "secure": True, "certificate_names": "DNS:localhost", "shards": 1}

    @classmethod
    def prepare_services(cls):
        for node in cls.stack.redis.nodes:
            node.command(*acl_rules("cluster-s3cret", prefix="blue:"), "-config")
            node.command("ACL", "LOG", "RESET")
        cls.stack.told = {
            "FANLINE_REDIS": cls.stack.redis.tls_address.replace("127.0.0.1", "localhost"),
            "FANLINE_REDIS_TLS_CA": cls.stack.certificates.authority,
            "FANLINE_REDIS_USER": "fanline",
            "FANLINE_REDIS_PASSWORD": "cluster-s3cret",
            "FANLINE_REDIS_KEY_PREFIX": "blue:",
        }

    def test_posts_arrive_wherever_slots_move_and_masters_fail(self):
        source = self.cluster.owner(slot_of(3))
        self.cluster.move_slot(slot_of(3), self.other_master(source))
        self.publish_all(list(EVERYBODY))
        self.settle()
        self.assert_exact(live=EVERYBODY)
        master = self.cluster.owner(slot_of(0))
        replica = self.cluster.replica_of(master)
        master.command("WAIT", 1, 5000)
        self.fail_over(master, replica)
        self.wait_served()
        self.settle()
        self.assert_exact()
        denied = {entry[entry.index("object") + 1] for entry in replica.command("ACL", "LOG")}
        self.assertLessEqual(denied, {"config|get"})
        clients = replica.command("CLIENT", "LIST").splitlines()
        self.assertTrue(any("user=fanline" in line for line in clients), clients)
        for node in self.cluster.masters():
            keys = node.command("KEYS", "*")
            self.assertEqual([key for key in keys if not key.startswith("blue:")], [])
        master.start()
        self.cluster.wait_whole()
