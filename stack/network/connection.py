"""One connection through a link: two sockets, and what is on its way between them."""

import socket
import struct
import time
from collections import deque

from stack.network.loop import Loop

_CHUNK = 1 << 18
_ROOM = 1 << 20  # bytes on their way in one direction; a faster sender is not read, so it waits


class Connection:
    """As transparent as can be: an end of input is passed on as one, a reset as a reset."""

    def __init__(self, loop, link, client, port):
        self._link = link
        server = socket.socket()
        server.setblocking(False)
        server.connect_ex(("127.0.0.1", port))  # a refusal shows as a broken socket
        self._ends = [_End(loop, link, self, end) for end in (client, server)]
        self._ends[0].other, self._ends[1].other = self._ends[1], self._ends[0]
        link.connections.add(self)
        self.go_on()

    def go_on(self):
        """The link stalls, or does no longer."""
        for end in self._ends:
            end.go_on()

    def end_if_over(self):
        if all(end.shut for end in self._ends):
            self._close()

    def reset(self):
        for end in self._ends:
            end.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._close()

    def _close(self):
        for end in self._ends:
            end.close()
        self._link.connections.discard(self)


class _End:
    """One of the two sockets, and what waits to be sent to it."""

    def __init__(self, loop, link, connection, sock):
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock = sock
        self.other = None
        self.shut = False  # all was sent to it that there will ever be
        self._loop = loop
        self._link = link
        self._connection = connection
        self._ended = False  # nothing more comes from it
        self._closed = False
        self._queue = deque()  # (when, bytes); no bytes: the end
        self._queued = 0

    def go_on(self):
        if not self._link.stalled:
            # Those of a link that healed need not wait for their time.
            if not self._link.delay:
                self._queue = deque((0, data) for _, data in self._queue)
            self._flush()
        self._watch()

    def close(self):
        if not self._closed:
            self._closed = True
            self._loop.forget(self.sock)
            self.sock.close()

    def _ready(self, events):
        if events & Loop.WRITE:
            self._flush()
        if events & ~Loop.WRITE and not self._closed and not self._ended:
            self._read()

    def _read(self):
        try:
            data = self.sock.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            return self._connection.reset()
        self._ended = not data
        self.other._take(data)
        if not self._closed:
            self._watch()

    def _take(self, data):
        when = time.monotonic() + self._link.delay if self._link.delay else 0
        self._queue.append((when, data))
        self._queued += len(data)
        if len(self._queue) == 1:
            self._flush()

    def _flush(self):
        """Sends what is due, as far as the socket takes it."""
        if self._closed:
            return
        queue = self._queue
        try:
            while queue and not self._link.stalled:
                when, data = queue[0]
                if when and when > time.monotonic():
                    self._loop.at(when, self._flush)
                    break
                if not data:
                    self.sock.shutdown(socket.SHUT_WR)
                    self.shut = True
                    queue.popleft()
                    break
                sent = self.sock.send(data)
                self._queued -= sent
                if sent < len(data):
                    queue[0] = (0, memoryview(data)[sent:])
                else:
                    queue.popleft()
        except BlockingIOError:
            pass
        except OSError:
            return self._connection.reset()
        self._watch()
        self.other._watch()
        self._connection.end_if_over()

    def _watch(self):
        """Nothing of a stalled link is watched: its breaks show later."""
        if self._closed:
            return
        mask = 0
        if not self._link.stalled:
            if not self._ended and self.other._queued < _ROOM:
                mask |= Loop.READ
            if self._queue and self._queue[0][0] <= time.monotonic():
                mask |= Loop.WRITE
        self._loop.watch(self.sock, mask, self._ready)
