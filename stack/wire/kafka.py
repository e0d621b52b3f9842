"""A few Kafka requests: who is in the cluster (a broker that answers with itself and a controller
serves topics and groups); delete what a log holds, and what groups committed, as retention does;
give a user a password for SCRAM."""

import hashlib
import os
import socket
import struct
from typing import NamedTuple

_METADATA, _METADATA_VERSION, _NO_TOPICS = 3, 2, 0
_DELETE_RECORDS, _DELETE_RECORDS_VERSION, _TO_THE_END = 21, 0, -1
_DELETE_GROUPS, _DELETE_GROUPS_VERSION = 42, 0
_SCRAM, _SCRAM_SHA_512, _SCRAM_ROUNDS = 51, 2, 4096
_FEATURES, _FEATURES_VERSION, _UPGRADE, _KAFKA_3_9 = 57, 1, 1, 21
_NO_TAGS = b"\0"
_CLIENT = b"fanline-stack"


class Cluster(NamedTuple):
    id: str
    brokers: int
    controller: int


def ask_cluster(port, timeout=10):
    return _ask(port, _METADATA, _METADATA_VERSION, struct.pack(">i", _NO_TOPICS),
                timeout).cluster()


def brokers_told(port, timeout=10):
    """(host, port) of each broker, as clients who come by this port are told."""
    return _ask(port, _METADATA, _METADATA_VERSION, struct.pack(">i", _NO_TOPICS),
                timeout).brokers()


def delete_records(port, topic, partitions, timeout=10, before=_TO_THE_END):
    """Deletes all that these partitions hold, or what lies before an offset. Returns their first
    offsets from now on."""
    name = topic.encode()
    body = struct.pack(f">ih{len(name)}si", 1, len(name), name, len(partitions))
    body += b"".join(struct.pack(">iq", partition, before) for partition in partitions)
    return _ask(port, _DELETE_RECORDS, _DELETE_RECORDS_VERSION,
                body + struct.pack(">i", timeout * 1000), timeout).deleted()


def delete_groups(port, *groups, timeout=10):
    """Deletes groups without members, with what they committed."""
    names = [group.encode() for group in groups]
    body = struct.pack(">i", len(names)) + b"".join(
        struct.pack(f">h{len(name)}s", len(name), name) for name in names)
    _ask(port, _DELETE_GROUPS, _DELETE_GROUPS_VERSION, body, timeout).refusals_of_groups()


def allow_scram(port, timeout=10):
    """A cluster begun without Kafka's tools keeps metadata of an old version, without passwords:
    raises it. Nothing changes the second time."""
    feature = _compact(b"metadata.version") + struct.pack(">hb", _KAFKA_3_9, _UPGRADE) + _NO_TAGS
    body = struct.pack(">i", timeout * 1000) + b"\x02" + feature + b"\0" + _NO_TAGS
    _ask(port, _FEATURES, _FEATURES_VERSION, body, timeout, _NO_TAGS).refusals_of_features()


def set_scram_password(port, user, password, timeout=10):
    """For SCRAM-SHA-512."""
    salt = os.urandom(16)
    salted = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, _SCRAM_ROUNDS)
    new = (_compact(user.encode()) + struct.pack(">bi", _SCRAM_SHA_512, _SCRAM_ROUNDS)
           + _compact(salt) + _compact(salted) + _NO_TAGS)
    body = b"\x01" + b"\x02" + new + _NO_TAGS  # no user is deleted, one is set
    _ask(port, _SCRAM, 0, body, timeout, _NO_TAGS).refusals_of_users()


def _compact(data):
    assert len(data) < 127  # one byte says how long it is
    return bytes([len(data) + 1]) + data


def _ask(port, request, version, body, timeout, tags=b""):
    body = (struct.pack(f">hhih{len(_CLIENT)}s", request, version, 1, len(_CLIENT), _CLIENT)
            + tags + body)
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
        brokers = len(self.brokers())
        return Cluster(id=self._text(), brokers=brokers, controller=self._number(">i"))

    def brokers(self):
        found = []
        for _ in range(self._number(">i")):
            self._number(">i")  # node id
            found.append((self._text(), self._number(">i")))
            self._text()  # rack
        return found

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

    def refusals_of_groups(self):
        self._number(">i")  # throttled so long
        for _ in range(self._number(">i")):
            group = self._text()
            if error := self._number(">h"):
                raise ConnectionError(f"group {group}: error {error}")

    def refusals_of_features(self):
        self._at += 1  # tags of the header
        self._number(">i")  # throttled so long
        if error := self._number(">h"):
            raise ConnectionError(f"the broker does not raise its version: error {error}, "
                                  f"{self._compact_text()}")

    def refusals_of_users(self):
        self._at += 1
        self._number(">i")
        for _ in range(self._number(">B") - 1):
            user = self._compact_text()
            if error := self._number(">h"):
                raise ConnectionError(f"{user}: error {error}, {self._compact_text()}")
            self._compact_text()
            self._at += 1

    def _compact_text(self):
        size = self._number(">B") - 1  # of less than 127 bytes
        if size < 0:
            return None
        self._at += size
        return self._data[self._at - size:self._at].decode()

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
