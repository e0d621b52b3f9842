"""What a test does to the connections between programs and services.

    stack.links["redis2"].cut()       # connections are reset, new ones refused
    stack.links["redis2"].stall()     # connections stay, no byte moves; new ones wait to be taken
    stack.links["redis2"].delay(0.1)  # every byte comes so many seconds later, in each direction
    stack.links["redis2"].heal()

Each word replaces the one before. What had been sent into a link that stalled arrives after it, as
in a network, also when its sender has given up meanwhile. A connection to a service that is down
is taken and then reset, where the service itself would have it refused.

A Link has a port in front of a service's. All links are served by one process (proxy.py), so that
they take no turn from the threads of a test.
"""

import json
import socket
import threading

from stack.process import Process
from stack.services.service import ServiceFailed
from stack.workspace import ROOT

_ANSWER_WITHIN = 30
_PORT_ATTEMPTS = 5


class Links(dict):
    """Link by the name of its service. Thread-safe. Its process ends with ours."""

    def __init__(self, workspace, ports, env):
        super().__init__()
        self.name = "links"
        self._ports = ports
        self._asking = threading.Lock()
        ours, theirs = socket.socketpair()
        with theirs:
            # -m finds the module from here.
            self._process = Process(
                self.name, ["/usr/bin/python3", "-S", "-m", "stack.network.proxy"], env,
                workspace.logs / f"{self.name}.log", cwd=ROOT, stdin=theirs)
        ours.settimeout(_ANSWER_WITHIN)
        self._words, self._answers = ours, ours.makefile("r")

    def lead(self, name, to):
        """Makes the service's link lead to this port of ours from now on. Returns the link's port,
        which stays."""
        if name not in self:
            self[name] = self._open(name)
        self.ask(name, "lead", to)
        return self[name].port

    def ask(self, name, word, *values):
        """Returns once the proxy has done it. ServiceFailed when it cannot."""
        answer = self._answer(name, word, *values)
        if answer != "done":
            raise ServiceFailed(f"link {name}: {word}: {answer}:\n{self.tail()}")

    @property
    def failed(self):
        return not self._process.running

    def tail(self, lines=60):
        return self._process.tail(lines)

    def stop(self, timeout=15):
        self._process.terminate(timeout)
        self._answers.close()
        self._words.close()

    def _open(self, name):
        for _ in range(_PORT_ATTEMPTS):
            port = self._ports.take()
            answer = self._answer(name, "open", port)
            if answer == "done":
                return Link(self, name, port)
            self._ports.give_back(port)  # a stranger was faster
        raise ServiceFailed(f"link {name}: {answer}:\n{self.tail()}")

    def _answer(self, *words):
        with self._asking:
            try:
                self._words.sendall(json.dumps(words).encode() + b"\n")
                return self._answers.readline().rstrip("\n") or "the proxy is gone"
            except OSError as error:
                return str(error)


class Link:
    """Thread-safe. Every call returns once it is so."""

    def __init__(self, links, name, port):
        self.name = name
        self.port = port
        self._links = links

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def cut(self):
        self._links.ask(self.name, "cut")

    def stall(self):
        self._links.ask(self.name, "stall")

    def delay(self, seconds):
        self._links.ask(self.name, "delay", seconds)

    def heal(self):
        self._links.ask(self.name, "delay", 0)
