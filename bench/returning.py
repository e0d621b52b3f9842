"""Readers who all come back at the same moment: one connection and one request each."""

import resource
import selectors
import socket
import time
from typing import NamedTuple

from bench.api_load import is_whole


class Answers(NamedTuple):
    begin: float  # time.monotonic() of the first request
    pages: int  # answered with 200
    others: dict  # status line -> how often
    seconds: list  # of the pages, ascending

    def quantile(self, share):
        return self.seconds[min(len(self.seconds) - 1, int(len(self.seconds) * share))]


def return_at_once(port, readers, patience):
    """Opens all connections, sends all requests, and reads all answers. An answer that does not come
    within `patience` seconds of the last is counted as none."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    ready = selectors.EpollSelector()
    connections = {}
    for reader in readers:
        connection = socket.create_connection(("127.0.0.1", port))
        connections[connection] = (f"GET /v1/users/{reader}/timeline HTTP/1.1\r\n"
                                   "Host: bench\r\n\r\n").encode()
        ready.register(connection, selectors.EVENT_READ)
    begin = time.monotonic()
    for connection, request in connections.items():
        connection.send(request)
    parts, seconds, others = dict.fromkeys(connections, b""), [], {}
    while parts:
        events = ready.select(patience)
        if not events:
            others["no answer"] = len(parts)
            break
        for key, _ in events:
            connection = key.fileobj
            came = connection.recv(1 << 16)
            parts[connection] += came
            if came and not is_whole(parts[connection]):
                continue
            ready.unregister(connection)
            status = parts.pop(connection).partition(b"\r\n")[0].decode()
            if status == "HTTP/1.1 200 OK":
                seconds.append(time.monotonic() - begin)
            else:
                others[status] = others.get(status, 0) + 1
    for connection in connections:
        connection.close()
    return Answers(begin, len(seconds), others, sorted(seconds))
