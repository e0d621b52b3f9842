"""Loopback ports nobody else takes.

They come from below the range the kernel hands out to outgoing connections, so no client can sit on
one by chance. Between stacks a port is reserved by an abstract Unix socket of the same number, held
until the stack ends: the name vanishes with its process, and a service that is down for a fault
test still finds its port free. A stranger may yet take a port between our look and the service's
bind; then the service says so and is started again on another (services/service.py).
"""

import random
import socket

_LOWEST, _HIGHEST = 15000, 32000


class Ports:
    def __init__(self):
        self._held = {}

    def take(self):
        for port in random.sample(range(_LOWEST, _HIGHEST), 2000):
            reservation = _reserve(port)
            if reservation is None:
                continue
            if _is_free(port):
                self._held[port] = reservation
                return port
            reservation.close()
        raise RuntimeError(f"no free loopback port between {_LOWEST} and {_HIGHEST}")

    def give_back(self, port):
        self._held.pop(port).close()

    def close(self):
        for port in list(self._held):
            self.give_back(port)


def _reserve(port):
    name = socket.socket(socket.AF_UNIX)
    try:
        name.bind(f"\0fanline-stack-port-{port}")
        return name
    except OSError:
        name.close()
        return None


def _is_free(port):
    with socket.socket() as probe:
        # As the services do: an earlier service's connections in TIME_WAIT are no obstacle.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
