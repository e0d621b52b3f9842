"""The process behind all links (links.py): passes bytes on, and never looks at them.

It is told what to do by lines of JSON on its standard input, a socket: [link, word, value...], and
answers each by a line, "done" or what went wrong. The end of that input is its own.
"""

import json
import os
import resource
import socket

from stack.network.connection import Connection
from stack.network.loop import Loop

_WAITING = 1024  # connections that a stalled link has not taken
_AT_ONCE = 64  # connections taken before others have their turn


class _Proxied:
    """A link as the proxy has it: the port it listens on, and where it leads."""

    def __init__(self, loop, port):
        self.delay = 0
        self.stalled = False
        self.connections = set()
        self._loop = loop
        self._port = port
        self._to = None
        self._listener = None
        self._listen()

    def lead_to(self, port):
        self._to = port

    def cut(self):
        self.stalled, self.delay = False, 0
        if self._listener:
            self._loop.forget(self._listener)
            self._listener.close()  # resets who waits
            self._listener = None
        for connection in list(self.connections):
            connection.reset()

    def stall(self):
        self._pass(0, stalled=True)

    def pass_after(self, seconds):
        self._pass(seconds, stalled=False)

    def _pass(self, delay, stalled):
        self.delay, self.stalled = delay, stalled
        self._listen()
        for connection in list(self.connections):
            connection.go_on()

    def _listen(self):
        if not self._listener:
            self._listener = socket.create_server(("127.0.0.1", self._port), backlog=_WAITING)
            self._listener.setblocking(False)
        # Those who come to a stalled link wait in the kernel: they take themselves for connected.
        self._loop.watch(self._listener, 0 if self.stalled else Loop.READ, self._accept)

    def _accept(self, _):
        for _ in range(_AT_ONCE):
            try:
                client, _ = self._listener.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            Connection(self._loop, self, client, self._to)


class _Door:
    """Where it is told what to do."""

    def __init__(self, loop):
        self._loop = loop
        self._socket = socket.socket(fileno=os.dup(0))
        self._links = {}
        self._input = b""
        loop.watch(self._socket, Loop.READ, self._read)

    def _read(self, _):
        data = self._socket.recv(1 << 16)
        if not data:
            raise SystemExit
        *lines, self._input = (self._input + data).split(b"\n")
        for line in lines:
            name, word, *values = json.loads(line)
            self._socket.sendall(f"{self._do(name, word, *values)}\n".encode())

    def _do(self, name, word, *values):
        try:
            if word == "open":
                self._links[name] = _Proxied(self._loop, *values)
            else:
                self._WORDS[word](self._links[name], *values)
        except OSError as error:
            return str(error)
        return "done"

    _WORDS = {"lead": _Proxied.lead_to, "cut": _Proxied.cut, "stall": _Proxied.stall,
              "delay": _Proxied.pass_after}


if __name__ == "__main__":
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    everything = Loop()
    _Door(everything)
    everything.run()
