"""One Kafka request: who is in the cluster. A broker that answers with itself and a controller
serves topics and groups."""

import socket
import struct
from typing import NamedTuple

_METADATA, _VERSION, _NO_TOPICS = 3, 2, 0


class Cluster(NamedTuple):
    id: str
    brokers: int
    controller: int


def ask_cluster(port, timeout=2):
    client = b"fanline-stack"
    request = struct.pack(f">hhih{len(client)}si", _METADATA, _VERSION, 1, len(client), client,
                          _NO_TOPICS)
    with socket.create_connection(("127.0.0.1", port), timeout) as connection:
        connection.sendall(struct.pack(">i", len(request)) + request)
        with connection.makefile("rb") as stream:
            return _Answer(stream).cluster()


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
