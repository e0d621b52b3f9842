"""Relations from below: rows written by hand, messages of relation-log made by hand."""

import time
import zlib

from confluent_kafka import Consumer, Producer, TopicPartition

LOG = "relation-log"


def shard_of(user):
    return zlib.crc32(str(user).encode()) % 1024 // 512


def bucket_of(user):
    return zlib.crc32(str(user).encode()) % 1024


def _varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _message(tag, *fields):
    """RelationLog with its part `tag`, whose fields are unsigned integers from 1 on."""
    body = b"".join(_varint(number << 3) + _varint(value)
                    for number, value in enumerate(fields, 1) if value)
    return b"\x08\x01" + _varint(tag << 3 | 2) + _varint(len(body)) + body


class RelationLog:
    def __init__(self, brokers):
        self._placed = {}
        self._producer = Producer({"bootstrap.servers": brokers, "partitioner": "murmur2_random"})

    def written(self, *edges, log_id=0):
        """msg1 of each (src, dst, ver, live). Where they are: {partition: first offset}."""
        self._placed.clear()
        for src, dst, ver, live in edges:
            self._send(src, dst, _message(2, src, dst, ver, int(live), ver // 1000, log_id))
        self._flush()
        return dict(self._placed)

    def mirrored(self, *edges):
        """msg2 of each (src, dst, ver, ...)."""
        for src, dst, ver, *_ in edges:
            self._send(src, dst, _message(3, src, dst, ver))
        self._flush()

    def _send(self, src, dst, value):
        self._producer.produce(LOG, key=f"{src}:{dst}", value=value,
                               on_delivery=self._delivered)
        self._producer.poll(0)

    def _flush(self):
        if self._producer.flush(20):
            raise TimeoutError("relation-log did not take all messages")

    def _delivered(self, error, record):
        if error:
            raise RuntimeError(str(error))
        self._placed.setdefault(record.partition(), record.offset())


class Tables:
    """Rows of following and follower on the shards of a stack."""

    def __init__(self, stack):
        self._stack = stack

    def put_forward(self, *edges, log=False):
        """(src, dst, ver, live) each, as a writer leaves them; `log`: with rows of log1 that a
        mirror relays."""
        self._put("following (src, dst, ver, state, pos)", edges, lambda edge: edge[0],
                  lambda src, dst, ver, live: f"({src},{dst},{ver},{int(live)},{ver // 1000})")
        self._count("user_rel (user_id, following_cnt)", "following_cnt", edges, 0)
        if log:
            self._put("log1 (kind, src, dst, ver, state, pos)", edges, lambda edge: edge[0],
                      lambda src, dst, ver, live:
                      f"(1,{src},{dst},{ver},{int(live)},{ver // 1000})", update=None)

    def put_reverse(self, *edges):
        self._put("follower (dst, bucket, src, ver, state, pos)", edges, lambda edge: edge[1],
                  lambda src, dst, ver, live:
                  f"({dst},{bucket_of(src)},{src},{ver},{int(live)},{ver // 1000})")
        self._count("user_fan (user_id, fans_cnt)", "fans_cnt", edges, 1)

    def forward(self):
        """{(src, dst): (ver, live)}"""
        return self._rows("following")

    def reverse(self):
        return self._rows("follower")

    def repairs(self):
        """(net, cause, src, dst, before, after, ver) of each."""
        return [(row[0], row[1], int(row[2]), int(row[3]), row[4], row[5], int(row[6]))
                for server in self._stack.mysql for row in server.query(
                    "SELECT net, cause, src, dst, before_value, after_value, ver FROM repair_log")]

    def _put(self, table, edges, owner, text,
             update="ver = VALUES(ver), state = VALUES(state), pos = VALUES(pos)"):
        for shard, server in enumerate(self._stack.mysql):
            rows = [text(*edge) for edge in edges if shard_of(owner(edge)) == shard]
            if rows:
                server.query(f"INSERT INTO {table} VALUES {','.join(rows)}" +
                             (f" ON DUPLICATE KEY UPDATE {update}" if update else ""))

    def _count(self, table, column, edges, end):
        live = [edge for edge in edges if edge[3]]
        self._put(table, live, lambda edge: edge[end],
                  lambda src, dst, ver, live: f"({(src, dst)[end]},1)",
                  update=f"{column} = {column} + 1")

    def _rows(self, table):
        return {(int(src), int(dst)): (int(ver), state == "1")
                for server in self._stack.mysql for src, dst, ver, state in server.query(
                    f"SELECT src, dst, ver, state FROM {table}")}


def version():
    return time.time_ns() // 1000


def committed(brokers, group, topic=LOG):
    """{partition: offset} of what the group has committed."""
    asker = Consumer({"bootstrap.servers": brokers, "group.id": group,
                      "enable.auto.commit": False, "log_level": 0})
    try:
        partitions = asker.list_topics(topic, 10).topics[topic].partitions
        places = asker.committed([TopicPartition(topic, number) for number in partitions], 10)
        return {place.partition: max(0, place.offset) for place in places}
    finally:
        asker.close()
