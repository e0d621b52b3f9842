#!/usr/bin/python3
"""A bare consumer group of two members, one a process that can be killed: what Kafka itself takes
until another member goes on.

Run as a program it is that member: bare_group.py BROKERS GROUP TOPIC.
"""

import sys
import threading
import time
from pathlib import Path

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

ROOT = Path(__file__).resolve().parent.parent
# Of our consumers too (backends/kafka/consumer.cpp), but for the session.
ASSIGNOR = "range"
SESSION = {"session.timeout.ms": 2000, "heartbeat.interval.ms": 300}
_APPEND_EVERY = 0.02
_TIMEOUT = 30


def _consumer(brokers, group):
    return Consumer({"bootstrap.servers": brokers, "group.id": group,
                     "partition.assignment.strategy": ASSIGNOR, "fetch.wait.max.ms": 100,
                     "auto.offset.reset": "earliest", "auto.commit.interval.ms": 1000,
                     "log_level": 0, **SESSION})


class BareGroup:
    """Appends a record to each partition fifty times a second, and is one of the group's members
    itself: a thread."""

    def __init__(self, stack, topic, partitions):
        self._stack = stack
        self._brokers = stack.env["FANLINE_KAFKA_BROKERS"]
        self._topic, self._partitions = topic, partitions
        self._stopping = threading.Event()
        self._owned = 0
        self._newest = {}  # partition -> when the newest record taken was appended (monotonic)
        self._process = None
        admin = AdminClient({"bootstrap.servers": self._brokers})
        admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(_TIMEOUT)
        self._threads = [threading.Thread(target=work, daemon=True)
                         for work in (self._append, self._take)]
        for thread in self._threads:
            thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def start_other(self):
        self._process = self._stack.spawn(
            "bare-member", ["/usr/bin/python3", __file__, self._brokers, self._topic, self._topic])

    def kill_other(self):
        self._process.kill()

    @property
    def shared(self):
        """Each member has half of the partitions."""
        return self._owned == self._partitions // 2

    def oldest(self):
        """When the newest record of the partition that is furthest behind was appended."""
        return min((self._newest.get(at, 0.0) for at in range(self._partitions)))

    def _append(self):
        producer = Producer({"bootstrap.servers": self._brokers, "linger.ms": 5, "log_level": 0})
        while not self._stopping.wait(_APPEND_EVERY):
            for partition in range(self._partitions):
                producer.produce(self._topic, str(time.monotonic()), partition=partition)
            producer.poll(0)
        producer.flush(_TIMEOUT)

    def _take(self):
        consumer = _consumer(self._brokers, self._topic)

        def own(_, partitions):
            self._owned = len(partitions)

        consumer.subscribe([self._topic], on_assign=own)
        while not self._stopping.is_set():
            for message in consumer.consume(100, 0.02):
                if not message.error():
                    self._newest[message.partition()] = float(message.value())
        consumer.close()


def main():
    brokers, group, topic = sys.argv[1:]
    consumer = _consumer(brokers, group)
    consumer.subscribe([topic])
    while True:
        consumer.consume(100, 0.1)


if __name__ == "__main__":
    main()
