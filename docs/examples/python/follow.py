#!/usr/bin/python3
"""Tells Fanline about follows, in JSON, for an application that keeps its own follow graph.

Needs confluent-kafka (Debian: python3-confluent-kafka). Run as a program, user 9 follows user 5,
no longer, and again.
"""

import json
import os
import sys
import time

from confluent_kafka import KafkaException, Producer

TOPIC = "relation-events"


def follow(src, dst, version):
    return event("relation.follow", src, dst, version)


def unfollow(src, dst, version):
    return event("relation.unfollow", src, dst, version)


def event(kind, src, dst, version):
    # Large numbers travel as strings: a JSON number of 2^53 or above may be rounded on its way.
    return {"schema_version": 1, "type": kind, "src": str(src), "dst": str(dst),
            "version": str(version)}


def main():
    brokers = os.environ.get("FANLINE_KAFKA_BROKERS", "127.0.0.1:9092")
    version = time.time_ns() // 1000  # of the row in your database; it grows with each change
    changes = [follow(9, 5, version), unfollow(9, 5, version + 1), follow(9, 5, version + 2)]
    failed = []

    def on_delivery(error, record):
        if error:
            failed.append(error.str())
        else:
            print(f"{record.key().decode()} is at "
                  f"{record.topic()}/{record.partition()}/{record.offset()}")

    try:
        producer = Producer({"bootstrap.servers": brokers, "enable.idempotence": True,
                             "delivery.timeout.ms": 10_000})
        for change in changes:
            producer.produce(TOPIC, key=f"{change['src']}:{change['dst']}",
                             value=json.dumps(change).encode(),
                             headers={"content-type": "application/json"}, on_delivery=on_delivery)
        producer.flush()  # ends: delivery.timeout.ms bounds every event
    except (KafkaException, BufferError) as error:
        sys.exit(f"cannot send to {TOPIC} at {brokers}: {error}")
    if failed:
        sys.exit(f"{len(failed)} of {len(changes)} events were not acknowledged by {brokers}, "
                 f"first: {failed[0]}")


if __name__ == "__main__":
    main()
