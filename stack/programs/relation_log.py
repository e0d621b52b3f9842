"""relation-log from the outside: makes messages by hand, repeats messages, and cuts the log off
before it is read."""

from confluent_kafka import Consumer, Producer, TopicPartition

from stack.programs.fleet import RELATION_LOG
from stack.wire.kafka import delete_records

_TIMEOUT = 60


class RelationLog:
    def __init__(self, brokers):
        self._brokers = brokers
        self._producer = Producer({"bootstrap.servers": brokers, "partitioner": "murmur2_random",
                                   "log_level": 2})

    def written(self, *edges, log_id=0):
        """Appends msg1 of each (src, dst, ver, live)."""
        for src, dst, ver, live in edges:
            self._send(f"{src}:{dst}",
                       _message(2, src, dst, ver, int(live), ver // 1000, log_id))
        self._flush()

    def letter(self, edge, reason):
        """Appends msg1 of (src, dst, ver, live) to the dead letters, as a mirror does."""
        src, dst, ver, live = edge
        self._send(f"{src}:{dst}", _message(2, src, dst, ver, int(live), ver // 1000), f"{RELATION_LOG}.dlq",
                   {"fanline-reason": reason, "fanline-stage": "mirror", "fanline-origin": f"{RELATION_LOG}/0/1"})
        self._flush()

    def again(self, count, times):
        """Repeats about the newest `count` messages so many times. Returns how many they were."""
        records = self._newest(count)
        for key, value in records * times:
            self._send(key, value)
        self._flush()
        return len(records)

    def cut(self):
        """Deletes all that is in the log now, as its retention does."""
        asker = self._asker()
        try:
            partitions = [place.partition for place in self._places(asker)]
        finally:
            asker.close()
        delete_records(int(self._brokers.rsplit(":", 1)[1]), RELATION_LOG, partitions)

    def _newest(self, count):
        reader = self._asker()
        try:
            places = self._places(reader)
            found = []
            for place in places:
                begin, end = reader.get_watermark_offsets(place, _TIMEOUT)
                start = max(begin, end - count // len(places))
                reader.assign([TopicPartition(RELATION_LOG, place.partition, start)])
                while start < end and (record := reader.poll(_TIMEOUT)) and not record.error():
                    found.append((record.key(), record.value()))
                    start = record.offset() + 1
            return found
        finally:
            reader.close()

    def _asker(self):
        return Consumer({"bootstrap.servers": self._brokers, "group.id": "nobody",
                         "enable.auto.commit": False, "log_level": 0})

    def _places(self, asker):
        partitions = asker.list_topics(RELATION_LOG, _TIMEOUT).topics[RELATION_LOG].partitions
        return [TopicPartition(RELATION_LOG, number) for number in partitions]

    def _send(self, key, value, topic=RELATION_LOG, headers=None):
        self._producer.produce(topic, key=key, value=value, headers=headers, on_delivery=self._delivered)
        self._producer.poll(0)

    def _flush(self):
        if self._producer.flush(_TIMEOUT):
            raise TimeoutError("relation-log did not take all messages")

    @staticmethod
    def _delivered(error, _):
        if error:
            raise RuntimeError(str(error))


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
