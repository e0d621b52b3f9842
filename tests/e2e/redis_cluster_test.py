"""A Redis Cluster under a fleet: slots move, masters fail over to replicas that lag, or lose what they
had. It concerns the ranges that it concerns; in the end every timeline is exact. A master that is
away with its replica: away_test.py."""

import contextlib
import socket
import time
import unittest

from tests.e2e.installation import USERS
from tests.e2e.meanwhile import long, publishing, reading
from tests.e2e.on_a_cluster import EVERYBODY, RANGES, OnACluster, slot_of


class RedisClusterChanges(OnACluster):
    @contextlib.contextmanager
    def a_loss(self, master, cause):
        """While posts are published and read, the block takes something from this master. Its
        ranges notice, for that cause; those of other masters are not even claimed, and theirs is
        delivered. Then everybody's timeline is exact."""
        theirs, takeovers = self.ranges_of(master), self.takeovers()
        losses, epochs = self.redis_losses(), self.epochs_but_of(theirs)
        with publishing(self, EVERYBODY), reading(self, EVERYBODY):
            yield
            self.wait_for(lambda: (self.redis_losses() - losses)[cause] >= len(theirs),
                          "the loss to be noticed")
        self.cluster.wait_whole()
        self.wait_served()
        self.settle()
        self.assertEqual(+(self.redis_losses() - losses), {cause: len(theirs)})
        self.assertGreaterEqual(self.takeovers() - takeovers, len(theirs))
        self.assertEqual(self.epochs_but_of(theirs), epochs, "other masters' ranges were claimed")
        self.make_live(EVERYBODY)
        self.publish_all(list(EVERYBODY))
        self.settle()
        self.assert_exact(live=EVERYBODY)

    def epochs_but_of(self, some_ranges):
        return {line["range"]: line["epoch"] for line in self.feedctl.json("ranges", "--json")["ranges"]
                if line["range"] not in some_ranges}

    @contextlib.contextmanager
    def deliveries_but_at(self, master):
        """While it is away others' timelines go on changing."""
        node, key = max(((node, key) for node in self.cluster.masters() if node is not master
                         for key in node.command("KEYS", "tl:*")),
                        key=lambda at: at[0].command("ZCARD", at[1]))
        seen = []

        def look():
            seen.append(node.command("ZRANGE", key, 1, 1))

        yield look
        self.assertGreater(len({str(each) for each in seen}), 2, seen)

    def test_every_range_is_shown_with_its_master_and_owner(self):
        shown = self.feedctl.json("ranges", "--json")["ranges"]
        self.assertEqual([line["range"] for line in shown], list(range(RANGES)))
        self.assertEqual(sum(line["readers"] for line in shown), USERS)
        for line in shown:
            self.assertEqual(line["slot"], slot_of(line["range"]))
            self.assertEqual(line["master"], self.cluster.owner(line["slot"]).announced)
            self.assertGreater(line["epoch"], 0)
            self.assertGreater(line["offset"], 0)
        owners = [line["owner"] for line in shown]
        for pusher in self.fleet.pushers:
            name = f"fanline-pusher-{socket.gethostname()}-{pusher.process.pid}"
            self.assertEqual(owners.count(name), pusher.scrape().total("fanline_ranges_ready"))
        self.assertEqual({line["owner_host"] for line in shown}, {"127.0.0.1"})
        text = self.feedctl.run("ranges")
        self.assertEqual(len(text.splitlines()), 1 + RANGES, text)
        self.assertIn(owners[0] + "@127.0.0.1", text.splitlines()[1])

    def test_ranges_are_shown_without_their_owners_while_kafka_is_away(self):
        said = self.feedctl.json("ranges", "--json", "--kafka-brokers", "127.0.0.1:1")
        self.assertEqual({line["owner"] for line in said["ranges"]}, {None})
        self.assertEqual(sum(line["readers"] for line in said["ranges"]), USERS)
        self.assertIn("127.0.0.1:1", said["owners_unknown"])

    def test_slots_that_move_while_posts_are_pushed_take_their_ranges_along(self):
        before = self.takeovers()
        moved = [1, 7, 13]
        for number in moved:
            self.publish_all(list(EVERYBODY))
            source = self.cluster.owner(slot_of(number))
            target = self.other_master(source)
            self.cluster.begin_move(slot_of(number), target)
            self.cluster.move_keys(slot_of(number), target, most=10)
            self.publish_all(list(EVERYBODY))
            self.cluster.move_keys(slot_of(number), target)
            self.publish_all(list(EVERYBODY))
            self.cluster.end_move(slot_of(number), target)
        self.publish_all(list(EVERYBODY))
        self.settle()
        self.assert_exact(live=EVERYBODY)
        self.assertEqual(self.takeovers() - before, len(moved), "of other ranges, too")

    def test_a_replica_that_lagged_is_given_again_what_it_never_had(self):
        master = self.cluster.owner(slot_of(0))
        theirs, before = self.ranges_of(master), self.counter("fanline_hints_replayed_total")
        least = RANGES
        with self.a_loss(master, "behind"), self.deliveries_but_at(master) as look:
            replica = self.cluster.let_lag(master)
            time.sleep(1.5)  # positions are saved once a second
            master.kill()
            replica.resume()
            deadline = time.monotonic() + 60
            while self.cluster.owner_if_any(slot_of(0)) is not replica:
                self.assertLess(time.monotonic(), deadline)
                look()
                least = min(least, self.fleet.ranges_ready())
            master.start()
        self.assertEqual(least, RANGES - len(theirs), "ranges of other masters noticed")
        self.assertGreater(self.counter("fanline_hints_replayed_total"), before)

    def test_a_master_that_is_flushed_loses_its_own_ranges_alone(self):
        master = self.cluster.owner(slot_of(0))
        with self.a_loss(master, "missing"):
            master.command("FLUSHALL")
        self.assertEqual(len(self.cluster.owner(slot_of(0)).command("KEYS", "installation:*")), 1)

    @long
    def test_a_master_that_is_back_before_its_replica_takes_over_empties_it_too(self):
        master = self.cluster.owner(slot_of(RANGES - 1))
        replica = self.cluster.replica_of(master)
        with self.a_loss(master, "missing"):
            replica.pause()
            self.restart(master, dump=False)
            replica.resume()

    @long
    def test_a_master_that_is_given_an_old_snapshot_is_given_again_what_came_since(self):
        master = self.cluster.owner(slot_of(RANGES - 1))
        replica = self.cluster.replica_of(master)
        master.command("SAVE")
        self.publish_all(list(EVERYBODY))
        self.settle()
        with self.a_loss(master, "behind"):
            replica.kill()
            self.restart(master, dump=True)
            replica.start()

    @staticmethod
    def restart(node, dump):
        """With the snapshot that it has, or with nothing."""
        node.kill()
        if not dump:
            (node.data / "dump.rdb").unlink(missing_ok=True)
        node.start()
