"""Two Kafka requests. One asks who is in the cluster: a broker that answers with itself and a
controller serves topics and groups. The other deletes what a log holds, as its retention does."""

import socket
import struct
from typing import NamedTuple

_METADATA, _METADATA_VERSION, _NO_TOPICS = 3, 2, 0
_DELETE_RECORDS, _DELETE_RECORDS_VERSION, _TO_THE_END = 21, 0, -1
_CLIENT = b"fanline-stack"


class Cluster(NamedTuple):
    id: str
    brokers: int
    controller: int


def ask_cluster(port, timeout=10):
    return _ask(port, _METADATA, _METADATA_VERSION, struct.pack(">i", _NO_TOPICS),
                timeout).cluster()


def delete_records(port, topic, partitions, timeout=10):
    """Deletes all that these partitions hold. Returns their first offsets from now on."""
    name = topic.encode()
    body = struct.pack(f">ih{len(name)}si", 1, len(name), name, len(partitions))
    body += b"".join(struct.pack(">iq", partition, _TO_THE_END) for partition in partitions)
    return _ask(port, _DELETE_RECORDS, _DELETE_RECORDS_VERSION,
                body + struct.pack(">i", timeout * 1000), timeout).deleted()


def _ask(port, request, version, body, timeout):
    body = struct.pack(f">hhih{len(_CLIENT)}s", request, version, 1, len(_CLIENT), _CLIENT) + body
    with socket.create_connection(("127.0.0.1", port), timeout) as connection:
        connection.sendall(struct.pack(">i", len(body)) + body)
        with connection.makefile("rb") as stream:
            return _Answer(stream)


class _Answer:
    def __init__(self, stream):
        size = stream.read(4)
        self._data = stream.read(int.from_bytes(size, "big")) if len(size) == 4 else b""
        self._at = 4  # the correlation id
        if len(self._data) < self._at:
            raise ConnectionError("the broker closed the connection")

    def cluster(self):
        brokers = self._number(">i")
        for _ in range(brokers):
            self._number(">i")  # node id
            self._text()  # host
            self._number(">i")  # port
            self._text()  # rack
        return Cluster(id=self._text(), brokers=brokers, controller=self._number(">i"))

    def deleted(self):
        self._number(">i")  # throttled so long
        firsts = {}
        for _ in range(self._number(">i")):
            self._text()  # topic
            for _ in range(self._number(">i")):
                partition, first = self._number(">i"), self._number(">q")
                if error := self._number(">h"):
                    raise ConnectionError(f"partition {partition}: error {error}")
                firsts[partition] = first
        return firsts

    def _number(self, form):
        value, = struct.unpack_from(form, self._data, self._at)
        self._at += struct.calcsize(form)
        return value

    def _text(self):
        size = self._number(">h")
        if size < 0:
            return None
        self._at += size
        return self._data[self._at - size:self._at].decode()
