"""What users of the harness's Redis Cluster rely on, on one cluster for all tests of this file."""

import os
import tempfile
import unittest

from stack import tag
from stack.network.links import Links
from stack.ports import Ports
from stack.services.redis_cluster import SLOTS, RedisCluster, slot_of
from stack.tests.outside import MEMORY
from stack.waiting import wait_until
from stack.wire.redis import RedisError
from stack.workspace import Workspace


class ARedisCluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="fanline-test-", dir=MEMORY)
        cls.addClassCleanup(holder.cleanup)
        cls.workspace, cls.ports = Workspace(holder.name), Ports()
        cls.addClassCleanup(cls.ports.close)
        cls.addClassCleanup(tag.sweep, cls.workspace.id)
        cls.cluster = cls.make("redis")

    @classmethod
    def make(cls, name, **options):
        env = {**os.environ, tag.variable(cls.workspace.id): "1"}
        cluster = RedisCluster(name, cls.workspace, cls.ports, env, **options)
        cls.addClassCleanup(cluster.kill)
        return cluster.start()

    def setUp(self):
        self.cluster.start()  # an earlier test may have left a node down

    def test_three_masters_share_the_slots_and_each_has_a_replica(self):
        cluster = self.cluster
        masters = cluster.masters()
        self.assertEqual(len(masters), 3)
        self.assertEqual(len({cluster.replica_of(master) for master in masters}), 3)
        self.assertEqual(len(cluster.address.split(",")), 6)
        self.assertIs(cluster.owner(0), masters[0])
        self.assertIs(cluster.owner(SLOTS - 1), masters[-1])

    def test_a_node_without_some_slots_serves_the_others(self):
        for node in self.cluster.nodes:
            self.assertEqual(node.command("CONFIG", "GET", "cluster-require-full-coverage"),
                             ["cluster-require-full-coverage", "no"])

    def test_a_slot_is_of_the_tag(self):
        self.assertEqual(slot_of("123456789"), 0x31C3)
        self.assertEqual(slot_of("tl:{123456789}:7"), 0x31C3)
        self.assertEqual(slot_of("{}:7"), self.cluster.nodes[0].command(
            "CLUSTER", "KEYSLOT", "{}:7"))

    def test_a_slot_moves_with_its_keys_and_is_between_two_masters_meanwhile(self):
        cluster, slot = self.cluster, slot_of("{moves}")
        for number in range(250):
            cluster.command("SET", f"{{moves}}:{number}", number)
        source = cluster.owner(slot)
        target = next(master for master in cluster.masters() if master is not source)
        cluster.begin_move(slot, target)
        self.assertEqual(cluster.move_keys(slot, target, most=120), 120)
        answers = []
        for number in range(250):
            try:
                answers.append(source.command("GET", f"{{moves}}:{number}"))
            except RedisError as error:
                answers.append(str(error).split()[0])
        self.assertEqual(answers.count("ASK"), 120)
        with self.assertRaisesRegex(RedisError, "TRYAGAIN"):
            source.command("MGET", *(f"{{moves}}:{number}" for number in range(250)))
        cluster.move_keys(slot, target)
        cluster.end_move(slot, target)
        self.assertIs(cluster.owner(slot), target)
        self.assertEqual(cluster.command("GET", "{moves}:249"), "249")
        cluster.wait_whole()

    def test_a_replica_takes_over_and_the_former_master_follows_it(self):
        cluster, slot = self.cluster, slot_of("{fails}")
        cluster.command("SET", "{fails}", "1")
        master = cluster.owner(slot)
        master.command("WAIT", 1, 1000)
        replica = cluster.replica_of(master)
        master.kill()
        cluster.wait_whole()
        self.assertIs(cluster.owner(slot), replica)
        self.assertEqual(cluster.command("GET", "{fails}"), "1")
        master.start()
        cluster.wait_whole()
        self.assertIs(cluster.replica_of(replica), master)

    def test_clients_are_sent_to_the_ports_that_are_announced(self):
        links = Links(self.workspace, self.ports, dict(os.environ))
        self.addCleanup(links.stop)
        proxied = self.make("proxied", masters=1, links=links)
        self.assertEqual(set(links), {"proxied1", "proxied2"})
        self.assertEqual(proxied.announced,
                         f"{links['proxied1'].address},{links['proxied2'].address}")
        (first, last, (_, port, *_), *_), = proxied.nodes[0].command("CLUSTER", "SLOTS")
        self.assertEqual((first, last, port), (0, SLOTS - 1, links["proxied1"].port))

    def test_a_replica_comes_through_its_masters_link_and_follows_again(self):
        links = Links(self.workspace, self.ports, dict(os.environ))
        self.addCleanup(links.stop)
        cluster = self.make("linked", masters=1, links=links)
        master, replica = cluster.nodes
        links[master.name].cut()
        master.command("SET", "late", "1")
        wait_until(lambda: "master_link_status:down" in replica.command("INFO", "replication"),
                   10, "the replica to miss its master")
        self.assertIn("cluster_state:ok", replica.command("CLUSTER", "INFO"))
        links[master.name].heal()
        cluster.wait_whole()
        self.assertEqual(master.command("WAIT", 1, 5000), 1)
