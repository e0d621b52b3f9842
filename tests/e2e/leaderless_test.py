"""One partition of fanout-tasks has no leader for a minute: it stands alone on a second broker, which
is killed. The hints of all other ranges arrive as before, their pages are complete, also after a new
pusher took them over, and what waited for that one comes once its broker is back.

FANLINE_LEADERLESS_SECONDS: how long the broker is away. Less than a minute judges no latency.
"""

import os
import struct
import threading
import time
import unittest

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from demo.workload import Event
from stack.programs.fleet import FEED, TASKS
from stack.services.kafka import Kafka
from stack.wire.kafka import ask_cluster
from tests.e2e.installation import USERS
from tests.e2e.reading import Reading
from tests.e2e.relations import bucket_of

AWAY = float(os.environ.get("FANLINE_LEADERLESS_SECONDS", 60))
WHOLE = AWAY >= 60
BEFORE = AWAY / 2
RATE = 100  # posts a second
RANGES, ALONE = 16, 5
EVERYBODY = range(1, USERS + 1)


class SecondBroker(Kafka):
    """A broker of the same cluster. The first one is its controller."""

    def __init__(self, first, workspace, ports, env):
        super().__init__("kafka2", workspace, ports, env)
        self._cluster, self._first = first._cluster, first

    def prepare(self):
        (self.data / "meta.properties").write_text(
            f"version=1\ncluster.id={self._cluster}\nnode.id=2\n")

    def answers(self):
        return ask_cluster(self.port).brokers == 2

    def _settings(self):
        return super()._settings() | {
            "process.roles": "broker",
            "node.id": 2,
            "controller.quorum.voters": f"1@127.0.0.1:{self._first._taken[1]}",
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port}",
        }


class Watch(threading.Thread):
    """Reads the hints of all ranges but one, and how late each is."""

    def __init__(self, brokers):
        super().__init__()
        self._over = threading.Event()
        self._consumer = Consumer({"bootstrap.servers": brokers, "group.id": "watch",
                                   "enable.auto.commit": False, "fetch.wait.max.ms": 5})
        places = [TopicPartition(TASKS, number) for number in range(RANGES) if number != ALONE]
        for place in places:
            place.offset = self._consumer.get_watermark_offsets(place, 10)[1]
        self._consumer.assign(places)
        self.seen = []  # (when published, seconds until it was in the log)

    def run(self):
        while not self._over.is_set():
            for record in self._consumer.consume(1_000, 0.02):
                now = time.time_ns()
                if record.error():
                    continue
                published = struct.unpack(">q", dict(record.headers())["tracestate"])[0]
                self.seen.append((published / 1e9, (now - published) / 1e9))

    def end(self):
        self._over.set()
        self.join()
        self._consumer.close()

    def late(self, begin, end):
        return sorted(late for published, late in self.seen if begin <= published < end)


def p99(line):
    return line[len(line) * 99 // 100]


class Leaderless(Reading):
    mirrors = 0

    @classmethod
    def prepare_services(cls):
        """That partition, and nothing else, lies on the second broker: it is down while all other
        topics are made."""
        first = cls.stack.kafka
        cls.second = cls.stack.add(
            lambda workspace, ports, env: SecondBroker(first, workspace, ports, env))
        places = [[2 if number == ALONE else 1] for number in range(RANGES)]
        admin = AdminClient({"bootstrap.servers": first.address})
        topic = NewTopic(TASKS, num_partitions=RANGES, replica_assignment=places)
        admin.create_topics([topic])[TASKS].result(30)
        cls.second.stop()
        cls.wait_for_brokers(1)
        # The first question about a group makes the topic of their offsets.
        group = Consumer({"bootstrap.servers": first.address, "group.id": "first"})
        group.committed([TopicPartition(TASKS, 0)], 30)
        group.close()

    @classmethod
    def made_graph(cls):
        """All topics are made by now, and no daemon runs yet."""
        cls.second.start()
        cls.wait_for_brokers(2)
        return super().made_graph()

    @classmethod
    def wait_for_brokers(cls, number):
        while ask_cluster(cls.stack.kafka.port).brokers != number:
            time.sleep(0.1)

    def publish_evenly(self, seconds):
        """Each record says when it was sent."""
        begin = time.monotonic()
        for number in range(int(seconds * RATE)):
            time.sleep(max(0, begin + number / RATE - time.monotonic()))
            event = Event("published", next(self.post_ids), EVERYBODY[number % USERS],
                          time.time_ns() // 1_000_000)
            self.ledger.apply(event)
            self.plain.produce(FEED, key=str(event.post), value=event.encode(),
                               headers={"tracestate": struct.pack(">q", time.time_ns())})
            self.plain.poll(0)
        self.plain.flush(30)

    def test_one_partition_of_sixteen_without_a_leader(self):
        self.make_live(EVERYBODY)
        self.plain = Producer({"bootstrap.servers": self.stack.kafka.address, "linger.ms": 0,
                               "enable.idempotence": True})
        self.publish_evenly(5)
        self.settle()
        watch = Watch(self.stack.kafka.address)
        watch.start()
        self.addCleanup(watch.end)
        times = [time.time()]
        self.publish_evenly(BEFORE)
        times.append(time.time())
        self.second.kill()
        self.publish_evenly(AWAY)
        times.append(time.time())
        dispatcher, = self.fleet.dispatchers
        time.sleep(5)
        self.assertGreater(dispatcher.scrape().total("fanline_events_parked"), AWAY * RATE / 2)
        appended = self.counter("fanline_hints_appended_total")
        before, during = watch.late(*times[:2]), watch.late(*times[1:])
        print(f"\nother ranges: {len(before)} hints before, p99 {p99(before):.3f} s, most "
              f"{before[-1]:.3f}; {len(during)} in {AWAY:.0f} s without it, p99 {p99(during):.3f} s, "
              f"most {during[-1]:.3f}", flush=True)
        self.assertEqual(len(during), int(AWAY * RATE) * (RANGES - 1), "once each, and none later")
        if WHOLE:
            self.assertLessEqual(p99(during), 1.5 * p99(before))

        def incomplete():
            return {reader for reader in EVERYBODY
                    if self.get(f"{reader}/timeline?limit=1").get("incomplete")}

        its = {reader for reader in EVERYBODY
               if bucket_of(reader) // (1024 // RANGES) == ALONE}
        self.wait_for(lambda: incomplete() == its, "the pages of its readers alone to be incomplete", 30)
        pusher, = self.fleet.pushers
        self.wait_for(lambda: pusher.named().get(f"kafka_{TASKS}", "").startswith(f"{TASKS}/{ALONE}: "),
                      "the pusher to name it", 30)
        self.assertEqual(pusher.status("/readyz"), 200, "it reads all the others")
        self.assertEqual(pusher.scrape().total("fanline_reachable", resource=f"kafka_{TASKS}"), 0)
        pusher.stop()
        self.wait_for(lambda: incomplete() == set(EVERYBODY), "all pages to be incomplete", 60)
        pusher.start()
        self.wait_for(lambda: incomplete() == its, "a new pusher to take over all other ranges", 60)
        for _ in range(20):
            self.assertEqual(pusher.status("/readyz"), 200, "it asks for that one again and again")
            time.sleep(0.5)

        self.second.start()
        self.wait_for_brokers(2)
        self.settle()
        self.assert_exact(live=EVERYBODY)
        self.assertLessEqual(self.counter("fanline_hints_appended_total") - appended,
                             1.5 * AWAY * RATE, "the one range catches up, alone")
        self.assertEqual(dispatcher.scrape().total("fanline_events_parked"), 0)
