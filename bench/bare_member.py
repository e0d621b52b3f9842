#!/usr/bin/python3
"""A bare member of a consumer group, a process that notes when each record came: the other side of
a fleet that is restarted one by one.

bare_member.py BROKERS GROUP TOPIC ASSIGNOR FILE. Ends at SIGTERM, after it has closed
its consumer. Appends to FILE, for each record, its partition and the moment.
"""

import signal
import struct
import sys
import time
from collections import defaultdict

from confluent_kafka import Consumer

_ENTRY = struct.Struct("<id")
# Of our consumers too (backends/kafka/consumer.cpp).
_SETTINGS = {"session.timeout.ms": 10_000, "heartbeat.interval.ms": 1_000, "fetch.wait.max.ms": 100}
_LOOK_EVERY = 0.02


def moments(files, since=0.0):
    """partition -> when records of it came to any of the members, in order."""
    found = defaultdict(list)
    for file in files:
        entries = file.read_bytes()
        whole = len(entries) // _ENTRY.size * _ENTRY.size
        for partition, moment in _ENTRY.iter_unpack(entries[:whole]):
            if moment >= since:
                found[partition].append(moment)
    return {partition: sorted(each) for partition, each in found.items()}


def main():
    brokers, group, topic, assignor, file = sys.argv[1:]
    stopping = []
    signal.signal(signal.SIGTERM, lambda *_: stopping.append(True))
    consumer = Consumer({
        "bootstrap.servers": brokers, "group.id": group, "log_level": 0,
        "partition.assignment.strategy": assignor, **_SETTINGS,
        "auto.offset.reset": "latest", "auto.commit.interval.ms": 1_000})
    consumer.subscribe([topic])
    with open(file, "ab", buffering=0) as entries:
        while not stopping:
            records = consumer.consume(1_000, _LOOK_EVERY)
            now = time.monotonic()
            entries.write(b"".join(_ENTRY.pack(record.partition(), now) for record in records
                                   if not record.error()))
    consumer.close()


if __name__ == "__main__":
    main()
