#!/usr/bin/python3
"""Tells Fanline's reconciler about relations in an application's own two tables: msg1 when the
forward row is committed, msg2 when the reverse row is. docs/relations-contract.md says when.

Needs confluent-kafka (Debian: python3-confluent-kafka). Run as a program it reads lines

    written SRC DST VERSION follows|ended POSITION_MS
    mirrored SRC DST VERSION

and ends when all of them are acknowledged.
"""

import os
import sys

from confluent_kafka import KafkaException, Producer

TOPIC = "relation-log"


def written(src, dst, version, follows, position_ms):
    """msg1: the value of the record."""
    return _message(2, src, dst, version, int(follows), position_ms)


def mirrored(src, dst, version):
    """msg2."""
    return _message(3, src, dst, version)


def key(src, dst):
    """Both messages of one relation must meet in one partition."""
    return f"{src}:{dst}"


def _message(kind, *fields):
    """schemas/proto/relation_log.proto by hand: all fields are unsigned integers, numbered from 1.
    With protobuf installed, use what protoc makes of that file instead."""
    body = b"".join(_varint(number << 3) + _varint(value)
                    for number, value in enumerate(fields, 1) if value)
    return b"\x08\x01" + _varint(kind << 3 | 2) + _varint(len(body)) + body


def _varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _parse(line):
    """Key and value of a record."""
    word, src, dst, version, *rest = line.split()
    src, dst, version = int(src), int(dst), int(version)
    if word == "mirrored" and not rest:
        return key(src, dst), mirrored(src, dst, version)
    if word == "written" and len(rest) == 2 and rest[0] in ("follows", "ended"):
        return key(src, dst), written(src, dst, version, rest[0] == "follows", int(rest[1]))
    raise ValueError(f"not understood: {line!r}")


def main():
    brokers = os.environ.get("FANLINE_KAFKA_BROKERS", "127.0.0.1:9092")
    failed = []

    def on_delivery(error, record):
        if error:
            failed.append(error.str())
        else:
            print(f"{record.key().decode()} is at "
                  f"{record.topic()}/{record.partition()}/{record.offset()}")

    try:
        # The partitioner is part of the contract: Fanline's own producers use this one.
        producer = Producer({"bootstrap.servers": brokers, "enable.idempotence": True,
                             "partitioner": "murmur2_random", "delivery.timeout.ms": 10_000})
        for line in sys.stdin:
            record_key, value = _parse(line)
            producer.produce(TOPIC, key=record_key, value=value, on_delivery=on_delivery)
        producer.flush()  # ends: delivery.timeout.ms bounds every message
    except (KafkaException, BufferError, ValueError) as error:
        sys.exit(f"cannot send to {TOPIC} at {brokers}: {error}")
    if failed:
        sys.exit(f"{len(failed)} messages were not acknowledged by {brokers}, first: {failed[0]}")


if __name__ == "__main__":
    main()
