"""Faults of ranges and of processes, and their alerts (provoked.py)."""

import json
import resource
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from stack.programs import BIN
from stack.programs.daemon import Daemon
from stack.programs.fleet import TASKS
from tests.e2e.installation import SESSION, most_followed
from tests.e2e.on_a_cluster import slot_of
from tests.e2e.relations import shard_of
from tests.monitoring.provoked import PATIENCE, Provoked
from tests.monitoring.watched import sees_fire

HELD = 16_384  # hints, by all ranges of a pusher: the least there is
BURST = 3_000  # posts, each a hint for each range
DESCRIPTORS = 200
# A restart must be over within the session, on a slow machine too.
STATIC = "session.timeout.ms=30000,heartbeat.interval.ms=300,group.instance.id="


class RangeFaults(Provoked):
    silent_at_first = True
    pusher_args = ("--held-hints", str(HELD))

    @sees_fire("FanlineRestarts", "FanlineTakeoverStorm")
    def test_1_pushers_come_and_go(self):
        before = self.epochs("FanlineTakeoverStorm")
        self.come_and_go_until("FanlineRestarts")
        self.wait_fires("FanlineRestarts", severity="ticket", job="fanline-pusher", window="15m")
        self.come_and_go_until("FanlineTakeoverStorm")
        self.wait_fires("FanlineTakeoverStorm", severity="ticket")
        self.wait_fires("FanlineRestarts", severity="ticket", job="fanline-pusher", window="2h")
        self.assertRegex(self.counted_while(self.fleet.pushers[1].stop), r'(?m)^> fanline_takeovers_total\{cause="assigned"\}')
        self.fleet.pushers[1].start().wait_ready()
        self.assertGreater(sum(self.epochs("FanlineTakeoverStorm").values()), sum(before.values()) + 6 * self.ranges)
        said = self.type_of("FanlineRestarts", "journalctl", {
            "journalctl -u fanline-pusher --since -1h": f"cat {self.stack.logs}/pusher-1.log"}, codes=(0, 1))
        self.assertEqual(said, "", "it was stopped, and ended by no fault of its own")
        self.begun()
        self.wait_silent("FanlineRestarts")
        self.wait_silent("FanlineTakeoverStorm")

    def test_1_with_an_id_of_its_own_each_a_quick_restart_moves_no_range(self):
        for pusher in self.fleet.pushers:
            pusher.stop()
        one, two = pushers = [
            Daemon(self.stack, self.ports, "fanline-pusher", f"pusher-{name}", ["--kafka-properties", f"{STATIC}{name}"])
            for name in ("one", "two")]
        for pusher in pushers:
            pusher.start()
        self.wait_for(lambda: self.ready(one) and self.ready(one) + self.ready(two) == self.ranges, "every range to be owned")
        before = two.counters().total("fanline_takeovers_total")
        one.stop()
        one.start().wait_ready()
        self.wait_for(lambda: self.ready(one) + self.ready(two) == self.ranges, "every range to be owned again")
        self.assertEqual(two.counters().total("fanline_takeovers_total"), before)
        for pusher in pushers:
            pusher.stop()
        for pusher in self.fleet.pushers:
            pusher.start()
        self.fleet.wait_serving()

    @sees_fire("FanlineNobodyDelivers")
    def test_1_without_a_pusher(self):
        for pusher in self.fleet.pushers:
            pusher.stop()
        self.begun()
        self.wait_fires("FanlineNobodyDelivers", severity="page")
        self.assertIn("start fanline-pusher", self.type_of("FanlineNobodyDelivers", "feedctl doctor", codes=(1,)))
        for pusher in self.fleet.pushers:
            pusher.start()
        self.begun()
        self.wait_silent("FanlineNobodyDelivers")
        self.fleet.wait_serving()

    @sees_fire("FanlineRangesContested")
    def test_2_another_group_serves_the_same_installation(self):
        self.begin_load()
        self.addCleanup(self.load.end)
        other = Daemon(self.stack, self.ports, "fanline-pusher", "pusher-other", ["--group", "forgotten", *SESSION])
        other.start()
        self.addCleanup(lambda: other.running and other.stop())
        self.begun()
        self.wait_fires("FanlineRangesContested", severity="page")
        before = self.epochs("FanlineRangesContested")
        self.wait_for(lambda: sum(self.epochs("FanlineRangesContested").values()) > sum(before.values()), "epochs to grow")
        groups = AdminClient({"bootstrap.servers": self.stack.kafka.address}).list_groups(timeout=60)
        self.assertIn("forgotten", {group.id for group in groups})
        owners = self.type_of("FanlineRangesContested", "feedctl ranges", {"feedctl ranges": "feedctl ranges --group forgotten"})
        self.assertIn(f"-{other.process.pid}@", owners)
        self.assertIn("another pusher owns a range", "".join(
            (self.stack.logs / f"{pusher.name}.log").read_text() for pusher in self.fleet.pushers))
        other.stop()
        self.begun()
        self.wait_silent("FanlineRangesContested")

    @sees_fire("FanlineRangesPaused")
    def test_3_somebody_locks_a_table_of_a_shard(self):
        authors = [author for author in most_followed(self.ledger, 200) if shard_of(author) == 1]
        with self.stack.mysql[1].client() as somebody:
            somebody.query("LOCK TABLES follower WRITE")
            self.begun()
            for number in range(0, BURST, 500):
                self.publish_all([authors[(number + more) % len(authors)] for more in range(500)])
            self.wait_fires("FanlineRangesPaused", severity="page", cause="parked")
            asked = "".join(self.type_of("FanlineRangesPaused", "curl", {"127.0.0.1:9402": self.at(pusher)})
                            for pusher in self.fleet.pushers)
            self.assertRegex(asked, r'fanline_parked_total{resource="mysql_1"} [1-9]')
            self.assertNotRegex(asked, r'fanline_parked_total{resource="mysql_0"} [1-9]')
            listed = self.ask_shards("FanlineRangesPaused")
            self.assertTrue(any("metadata lock" in str(row) for row in listed), listed)
            somebody.query("UNLOCK TABLES")
        self.begun()
        self.wait_silent("FanlineRangesPaused")

    @sees_fire("FanlineVersionsDiffer")
    def test_4_an_upgrade_stops_half_way(self):
        pusher = self.fleet.pushers[0]
        pusher.stop()
        pusher.programs = self.of_another_version("fanline-pusher")
        pusher.start()
        self.begun()
        self.wait_fires("FanlineVersionsDiffer", severity="ticket")
        told = "".join(self.type_of("FanlineVersionsDiffer", "curl", {"127.0.0.1:9402": self.at(daemon)})
                       for daemon in self.fleet.daemons)
        versions = {version_of(BIN / "fanline-pusher"), version_of(pusher.programs / "fanline-pusher")}
        for version in versions:
            self.assertIn(f'version="{version}"', told)
        self.assertEqual(len(versions), 2)
        pusher.stop()
        pusher.programs = BIN
        pusher.start().wait_ready()
        self.begun()
        self.wait_silent("FanlineVersionsDiffer")

    @sees_fire("FanlineFileDescriptors")
    def test_5_clients_take_all_descriptors(self):
        pid = self.api.process.pid
        hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)[1]
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (DESCRIPTORS, hard))
        self.begun()
        with ExitStack() as clients:
            for _ in range(int(0.9 * DESCRIPTORS - self.api.scrape().total("process_open_fds"))):
                clients.enter_context(socket.create_connection(("127.0.0.1", self.api.serving)))
            self.wait_fires("FanlineFileDescriptors", severity="ticket", job="fanline-api")
            told = self.type_of("FanlineFileDescriptors", "curl", {"127.0.0.1:9405": self.at(self.api)})
            self.assertIn(f"process_max_fds {DESCRIPTORS}", told)
            self.assertRegex(told, r"fanline_api_connections 1\d\d")
            self.type_of("FanlineFileDescriptors", "prlimit", {"PID": pid, "65536:65536": f"{4 * DESCRIPTORS}:{hard}"})
            self.begun()
            self.wait_silent("FanlineFileDescriptors")

    @sees_fire("FanlineRangesAwaitUpgrade")
    def test_6_dispatchers_are_newer_than_pushers(self):
        producer = Producer({"bootstrap.servers": self.stack.kafka.address})
        producer.produce(TASKS, partition=3, value=b"\x08\x63")  # schema_version: 99
        self.assertEqual(producer.flush(60), 0)
        self.wait_fires("FanlineRangesAwaitUpgrade", severity="page")
        told = "".join(self.type_of("FanlineRangesAwaitUpgrade", "curl -s http://127.0.0.1:9402/readyz", {"127.0.0.1:9402": self.at(pusher)})
                       for pusher in self.fleet.pushers)
        self.assertIn("schema_version: found 99", told)
        for daemon in self.fleet.daemons:
            told = self.type_of("FanlineRangesAwaitUpgrade", "curl -s http://127.0.0.1:9402/metrics",
                                {"127.0.0.1:9402": self.at(daemon)})
            self.assertIn('version="', told)

    # ---- faults --------------------------------------------------------------------------------

    def come_and_go_until(self, alert):
        """Stops and starts the two pushers by turns."""
        one, two = self.fleet.pushers
        while not self.fires(alert):
            self.assertLess(time.monotonic(), self.since + PATIENCE, alert)
            one.stop()
            self.wait_for(lambda: self.ready(two) == self.ranges, "the other to have every range")
            one.start().wait_ready()
            self.wait_for(lambda: self.ready(one) and self.ready(one) + self.ready(two) == self.ranges, "every range to be owned")
            one, two = two, one

    def of_another_version(self, program):
        """A folder with the program, but that it says it is of another version."""
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        folder = Path(temporary.name)
        of_ours = version_of(BIN / program)[:4].encode()
        (folder / program).write_bytes((BIN / program).read_bytes().replace(of_ours, b"9" + of_ours[1:]))
        shutil.copymode(BIN / program, folder / program)
        return folder

    # ---- looking -------------------------------------------------------------------------------

    def ready(self, pusher):
        return pusher.scrape().total("fanline_ranges_ready")

    def counted_while(self, happens):
        """What the storm's runbook says to type prints of the first pusher."""
        with ThreadPoolExecutor() as typist:
            told = typist.submit(self.type_of, "FanlineTakeoverStorm", "counts()", {
                "127.0.0.1:9402": self.at(self.fleet.pushers[0]), "sleep 60": "sleep 15"}, codes=(1,))
            time.sleep(2)  # it has looked for the first time
            happens()
            return told.result()

    def epochs(self, alert):
        """Range -> epoch, as the alert's runbook has them asked for."""
        shown = json.loads(self.type_of(alert, "feedctl ranges", {"feedctl ranges": "feedctl ranges --json"}))
        return {one["range"]: int(one["epoch"] or 0) for one in shown["ranges"]}


class ClusterFaults(Provoked):
    silent_at_first = True
    stack_options = {"cluster": True}

    @sees_fire("FanlineRangesLeftMigrating")
    def test_somebody_stops_in_the_middle_of_a_reshard(self):
        cluster, moved = self.stack.redis, slot_of(3)
        source = cluster.owner(moved)
        cluster.begin_move(moved, to=next(other for other in cluster.masters() if other is not source))
        self.begun()
        self.wait_fires("FanlineRangesLeftMigrating", severity="page")
        self.assertIn(f"slot {moved}", "".join(
            (self.stack.logs / f"{pusher.name}.log").read_text() for pusher in self.fleet.pushers))
        told = self.type_of("FanlineRangesLeftMigrating", "redis-cli --cluster check", {
            "HOST:PORT": source.address}, codes=(0, 1))
        self.assertIn(str(moved), told)
        self.type_of("FanlineRangesLeftMigrating", "redis-cli --cluster fix", {"HOST:PORT": source.address})
        self.begun()
        self.wait_silent("FanlineRangesLeftMigrating")


def version_of(program):
    return subprocess.run([program, "--version"], capture_output=True, text=True, check=True, timeout=60).stdout.split()[1]
