"""Ports: reserved between stacks, tried anew when a stranger was faster."""

import socket
import unittest

from stack.local_stack import LocalStack
from stack.ports import Ports


class PortsOfStacks(unittest.TestCase):
    def test_no_two_stacks_get_the_same(self):
        one, other = Ports(), Ports()
        self.addCleanup(one.close)
        self.addCleanup(other.close)
        taken = [ports.take() for _ in range(200) for ports in (one, other)]
        self.assertEqual(len(set(taken)), len(taken))

    def test_a_service_whose_port_was_snatched_starts_on_another(self):
        snatched = []

        class Unlucky(Ports):
            def take(self):
                port = super().take()
                if len(snatched) < 3:  # one per service, though Kafka may lose both of its
                    snatched.append(socket.create_server(("127.0.0.1", port)))
                return port

        stack = LocalStack(shards=1, say=lambda line: None, ports=Unlucky())
        self.addCleanup(lambda: [listener.close() for listener in snatched])
        with stack:
            self.assertEqual(len(snatched), 3)
            used = {service.port for service in stack.services}
            self.assertTrue(used.isdisjoint(one.getsockname()[1] for one in snatched))
