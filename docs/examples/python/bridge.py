#!/usr/bin/python3
"""Tells Fanline what an application says already: posts in a Kafka topic of its own, and follows in a table whose triggers
note each change. A process for each:

    bridge.py posts      topic posts -> feed-events
    bridge.py follows    table follow_change -> relation-events

What is sent is acknowledged before it is forgotten here, so a bridge that dies sends some of it again, which does no harm.
Needs confluent-kafka (Debian: python3-confluent-kafka), and for follows the client `mariadb`, configured by $APP_CNF.
"""

import json
import os
import subprocess
import sys
import time
from datetime import datetime

from confluent_kafka import Consumer, Producer

BROKERS = os.environ["FANLINE_KAFKA_BROKERS"]
JSON = {"content-type": "application/json"}


def post_event(said):
    """Ours of yours: {"id": 77, "user": 5, "action": "created", "at": "2026-11-23T06:00:00+00:00"}."""
    kind = {"created": "post.published", "removed": "post.deleted"}[said["action"]]
    event = {"schema_version": 1, "type": kind, "post_id": str(said["id"]), "author_id": str(said["user"])}
    if kind == "post.published":
        event["created_at_ms"] = int(datetime.fromisoformat(said["at"]).timestamp() * 1000)
    return event


def bridge_posts():
    consumer = Consumer({"bootstrap.servers": BROKERS, "group.id": "fanline-bridge",
                         "auto.offset.reset": "earliest", "enable.auto.commit": False})
    consumer.subscribe([os.environ.get("APP_TOPIC", "posts")])
    while True:
        records = [record for record in consumer.consume(1000, timeout=0.2) if not record.error()]
        send("feed-events", [translated(record) for record in records])
        if records:
            consumer.commit(asynchronous=False)


def translated(record):
    """(key, value). What is not understood goes on as it is: Fanline keeps it, with the reason (feedctl dlq list)."""
    try:
        event = post_event(json.loads(record.value()))
    except (KeyError, TypeError, ValueError) as error:
        print(f"not understood: {record.value()!r}: {error!r}", file=sys.stderr)
        return record.key(), record.value()
    return event["post_id"], json.dumps(event)


def bridge_follows():
    while True:
        # Rows of transactions that have not committed come later, whatever their number.
        rows = [line.split("\t") for line in
                sql("SELECT id, follower_id, followee_id, follows FROM follow_change ORDER BY id LIMIT 1000").splitlines()]
        send("relation-events", [(f"{src}:{dst}", json.dumps(
            {"schema_version": 1, "type": "relation.follow" if follows == "1" else "relation.unfollow",
             "src": src, "dst": dst, "version": number})) for number, src, dst, follows in rows])
        if rows:
            sql(f"DELETE FROM follow_change WHERE id IN ({', '.join(number for number, *_ in rows)})")
        else:
            time.sleep(0.2)


def sql(statement):
    return subprocess.run(["mariadb", f"--defaults-extra-file={os.environ['APP_CNF']}", "-BN", "-e", statement],
                          capture_output=True, text=True, check=True).stdout


def send(topic, messages):
    """All of them acknowledged, or an exception."""
    failed = []
    for key, value in messages:
        PRODUCER.produce(topic, key=key, value=value, headers=JSON,
                         on_delivery=lambda error, _: error and failed.append(error.str()))
    PRODUCER.flush()
    if failed:
        raise RuntimeError(f"{len(failed)} records for {topic} were not acknowledged, first: {failed[0]}")


if __name__ == "__main__":
    PRODUCER = Producer({"bootstrap.servers": BROKERS, "enable.idempotence": True, "delivery.timeout.ms": 30_000})
    {"posts": bridge_posts, "follows": bridge_follows}[sys.argv[1]]()
