#!/usr/bin/python3
"""Tells Fanline about posts, one function per event, in JSON.

Needs confluent-kafka (Debian: python3-confluent-kafka). Run as a program, it takes one post
through its life: published, reposted, hidden, shown again, edited; the repost undone; deleted.
"""

import json
import os
import sys
import time

from confluent_kafka import KafkaException, Producer

TOPIC = "feed-events"


def published(post_id, author_id, created_at_ms):
    return event("post.published", post_id, author_id, created_at_ms=created_at_ms)


def reposted(post_id, author_id, created_at_ms, original_id, original_author_id):
    """A post of its own, by who reposts. To undo it, delete it."""
    return event("post.published", post_id, author_id, created_at_ms=created_at_ms,
                 repost_of={"post_id": str(original_id), "author_id": str(original_author_id)})


def hidden(post_id, author_id, version):
    return event("post.hidden", post_id, author_id, version=version)


def unhidden(post_id, author_id, version):
    return event("post.unhidden", post_id, author_id, version=version)


def edited(post_id, author_id, version):
    return event("post.edited", post_id, author_id, version=version)


def deleted(post_id, author_id):
    return event("post.deleted", post_id, author_id)


def event(kind, post_id, author_id, **more):
    # Ids travel as strings: a JSON number of 2^53 or above may be rounded by whoever reads it.
    return {"schema_version": 1, "type": kind, "post_id": str(post_id),
            "author_id": str(author_id), **more}


def connect(brokers):
    return Producer({
        "bootstrap.servers": brokers,
        # Implies acks=all: an acknowledged event is on every in-sync replica.
        "enable.idempotence": True,
        # After that the event is reported as failed: send it again, twice does no harm.
        "delivery.timeout.ms": 10_000,
    })


def send(producer, message, unacknowledged):
    """Queues the event; what the broker does not acknowledge ends up in `unacknowledged`."""
    def on_delivery(error, record):
        if error:
            unacknowledged.append((message, error.str()))
        else:
            print(f"{message['type']} {message['post_id']} is at "
                  f"{record.topic()}/{record.partition()}/{record.offset()}")

    producer.produce(TOPIC, key=message["post_id"], value=json.dumps(message).encode(),
                     headers={"content-type": "application/json"}, on_delivery=on_delivery)


def main():
    brokers = os.environ.get("FANLINE_KAFKA_BROKERS", "127.0.0.1:9092")
    post, author, now_ms = time.time_ns(), 5, time.time_ns() // 1_000_000
    repost, reposter = post + 1, 9
    life = [
        published(post, author, created_at_ms=now_ms),
        reposted(repost, reposter, now_ms, original_id=post, original_author_id=author),
        hidden(post, author, version=1),
        unhidden(post, author, version=2),
        edited(post, author, version=1),
        deleted(repost, reposter),
        deleted(post, author),
    ]
    unacknowledged = []
    try:
        producer = connect(brokers)
        for message in life:
            send(producer, message, unacknowledged)
        producer.flush()  # ends: delivery.timeout.ms bounds every event
    except (KafkaException, BufferError) as error:
        sys.exit(f"cannot send to {TOPIC} at {brokers}: {error}")
    if unacknowledged:
        message, reason = unacknowledged[0]
        sys.exit(f"{len(unacknowledged)} of {len(life)} events were not acknowledged by {brokers}, "
                 f"first {message['type']}: {reason}")


if __name__ == "__main__":
    main()
