"""Links: what passes, what a test can do to it, and that programs of a proxied stack come through."""

import contextlib
import os
import socket
import tempfile
import threading
import time
import unittest

from stack import tag
from stack.local_stack import LocalStack
from stack.network.links import Links
from stack.ports import Ports
from stack.services.service import ServiceFailed
from stack.tests.outside import MEMORY, accepts
from stack.wire.kafka import brokers_told
from stack.wire.redis import RedisClient
from stack.workspace import Workspace

A_WHILE = 0.2


class Echo:
    """A service that sends back what it gets, until the end of it."""

    def __init__(self):
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            connection, _ = self._server.accept()
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    @staticmethod
    def _serve(connection):
        with connection, contextlib.suppress(ConnectionResetError):
            while data := connection.recv(1 << 16):
                connection.sendall(data)


class ALink(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="fanline-test-", dir=MEMORY)
        cls.addClassCleanup(holder.cleanup)
        workspace, ports = Workspace(holder.name), Ports()
        cls.addClassCleanup(ports.close)
        cls.links = Links(workspace, ports, {**os.environ, tag.variable(workspace.id): "1"})
        cls.addClassCleanup(cls.links.stop)
        cls.echo = Echo()
        cls.links.lead("echo", cls.echo.port)
        cls.link = cls.links["echo"]

    def setUp(self):
        self.link.heal()
        self.client = self.connect()

    def connect(self):
        client = socket.create_connection(("127.0.0.1", self.link.port), 10)
        self.addCleanup(client.close)
        return client

    def round_trip(self, client):
        begin = time.monotonic()
        client.sendall(b"ping")
        self.assertEqual(client.recv(4), b"ping")
        return time.monotonic() - begin

    def test_passes_all_bytes_in_order_and_the_end(self):
        sent = os.urandom(20 << 20)
        threading.Thread(target=lambda: (self.client.sendall(sent),
                                         self.client.shutdown(socket.SHUT_WR))).start()
        with self.client.makefile("rb") as back:
            self.assertEqual(back.read(), sent)

    def test_does_not_take_more_than_it_can_pass_on(self):
        with socket.create_server(("127.0.0.1", 0)) as deaf:
            self.links.lead("echo", deaf.getsockname()[1])
            self.addCleanup(self.links.lead, "echo", self.echo.port)
            client = self.connect()
            client.setblocking(False)
            sent, deadline = 0, time.monotonic() + 10
            while time.monotonic() < deadline:
                try:
                    sent += client.send(bytes(1 << 20))
                    deadline = time.monotonic() + A_WHILE
                except BlockingIOError:
                    time.sleep(0.01)
            self.assertLess(sent, 32 << 20)

    def test_that_is_cut_resets_and_refuses(self):
        self.round_trip(self.client)
        self.link.cut()
        with self.assertRaises(ConnectionResetError):
            self.client.recv(1)
        with self.assertRaises(ConnectionRefusedError):
            self.connect()
        self.link.heal()
        self.round_trip(self.connect())

    def test_that_stalls_holds_what_was_sent_and_who_comes(self):
        self.round_trip(self.client)
        self.link.stall()
        new = self.connect()
        for client in (self.client, new):
            client.sendall(b"late")
            client.settimeout(A_WHILE)
            with self.assertRaises(TimeoutError):
                client.recv(1)
            client.settimeout(10)
        self.link.heal()
        for client in (self.client, new):
            self.assertEqual(client.recv(4), b"late")
            self.round_trip(client)

    def test_that_is_slow_delays_each_direction(self):
        self.assertLess(self.round_trip(self.client), A_WHILE)
        self.link.delay(A_WHILE)
        self.assertGreaterEqual(self.round_trip(self.client), 2 * A_WHILE)
        self.client.sendall(b"a")
        self.link.delay(0)  # what is on its way does not fall behind
        self.client.sendall(b"b")
        with self.client.makefile("rb") as back:
            self.assertEqual(back.read(2), b"ab")

    def test_to_a_service_that_is_down_resets(self):
        with socket.create_server(("127.0.0.1", 0)) as gone:
            port = gone.getsockname()[1]
        self.links.lead("echo", port)
        self.addCleanup(self.links.lead, "echo", self.echo.port)
        with self.assertRaises(ConnectionResetError):
            self.connect().recv(1)

    def test_passes_the_reset_of_its_client(self):
        server = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(server.close)
        self.client.sendall(b"x")
        self.client.recv(1)  # so it is led to the echo, not to the server
        self.links.lead("echo", server.getsockname()[1])
        self.addCleanup(self.links.lead, "echo", self.echo.port)
        client = self.connect()
        taken, _ = server.accept()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        client.close()
        taken.settimeout(10)
        with taken, self.assertRaises(ConnectionResetError):
            taken.recv(1)

    def test_says_what_it_cannot_do(self):
        self.link.cut()
        with socket.create_server(("127.0.0.1", self.link.port)):
            with self.assertRaisesRegex(ServiceFailed, "link echo: delay: .*in use"):
                self.link.heal()
        self.link.heal()


class AProxiedStack(unittest.TestCase):
    def test_tells_programs_the_links_and_goes_past_them_itself(self):
        with LocalStack(shards=2, cluster=True, proxied=True, say=lambda line: None) as stack:
            nodes = [node.name for node in stack.redis.nodes]
            self.assertEqual(set(stack.links), {"kafka", "mysql0", "mysql1", *nodes})
            told = " ".join(stack.env.values())
            for name, link in stack.links.items():
                self.assertIn(link.address, told)
                self.assertTrue(accepts(link.port), name)
            link = stack.links["kafka"]
            self.assertEqual(brokers_told(link.port), [("127.0.0.1", link.port)])
            self.assertEqual(brokers_told(stack.kafka.port), [("127.0.0.1", stack.kafka.port)])
            with RedisClient(stack.links[nodes[0]].port) as client:
                self.assertEqual(client.command("PING"), "PONG")

            for name, link in stack.links.items():
                link.cut()
                self.assertFalse(accepts(link.port), name)
            self.assertEqual(stack.kafka.answers() and stack.mysql[1].answers(), True)
            self.assertEqual(stack.redis.nodes[0].command("PING"), "PONG")
            self.assertEqual(stack.failures(), [])
