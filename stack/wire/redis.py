"""RESP2 to one Redis node: one connection per client, one command at a time."""

import select
import socket


class RedisError(Exception):
    pass


class RedisClient:
    def __init__(self, port, timeout=30):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._replies = self._socket.makefile("rb")

    def command(self, *words):
        """The reply as int, str (bytes that are no UTF-8 stay bytes), None or a list of these;
        RedisError for an error reply."""
        self.send(*words)
        return self.receive()

    def send(self, *words):
        self._socket.sendall(_request(words))

    def pipeline(self, commands):
        """The replies of commands that are sent at once."""
        self._socket.sendall(b"".join(map(_request, commands)))
        return [self.receive() for _ in commands]

    def has_reply(self, within):
        """Whether the reply to a command sent begins to arrive within so many seconds."""
        return bool(select.select([self._socket], [], [], within)[0])

    def receive(self):
        reply = self._read()
        if isinstance(reply, RedisError):
            raise reply
        return reply

    def close(self):
        self._replies.close()
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _read(self):
        line = self._replies.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("redis closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            return RedisError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else _text(self._exactly(int(rest)))
        if kind == b"*":
            return None if rest == b"-1" else [self._read() for _ in range(int(rest))]
        raise ConnectionError(f"not a redis reply: {line!r}")

    def _exactly(self, size):
        data = self._replies.read(size + 2)
        if len(data) != size + 2:
            raise ConnectionError("redis closed the connection")
        return data[:-2]


def _request(words):
    request = [b"*%d\r\n" % len(words)]
    for word in words:
        word = word if isinstance(word, bytes) else str(word).encode()
        request.append(b"$%d\r\n%s\r\n" % (len(word), word))
    return b"".join(request)


def _text(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data
