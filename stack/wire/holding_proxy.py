"""A TCP proxy that can hold back what its clients send, as a network may for any time."""

import contextlib
import socket
import threading


class HoldingProxy:
    """Between clients and 127.0.0.1:`to`. What is held goes on in the order in which it came, also
    when its sender does not answer any more. A connection ends when both ends have closed it."""

    def __init__(self, port, to):
        self.port = port
        self.address = f"127.0.0.1:{port}"
        self._to = to
        self._lock = threading.Lock()
        self._hold_from = ()  # once one of these was sent
        self._holding = False
        self._held = []  # (where to, bytes; none: the end)
        self._answered = bytearray()
        self._server = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._accept, daemon=True).start()

    def lead(self, to):
        """Connections that are made from now on lead to this port."""
        self._to = to

    def hold_from(self, *marks):
        """Holds back the next bytes that contain one of `marks`, and all that is sent after them. What
        was held goes on, up to such bytes."""
        with self._lock:
            self._hold_from, self._holding = marks, False
            held, self._held = self._held, []
            for sink, data in held:
                with contextlib.suppress(OSError):  # the other end is gone
                    self._send_unless_held(sink, data)

    @property
    def holding(self):
        with self._lock:
            return self._holding

    def release(self):
        with self._lock:
            self._answered.clear()
        self.hold_from()

    def answered(self):
        """What came back since the last release."""
        with self._lock:
            return bytes(self._answered)

    def close(self):
        """Takes no further connection."""
        self._server.shutdown(socket.SHUT_RDWR)  # wakes who waits for one
        self._server.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._server.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        with client, socket.create_connection(("127.0.0.1", self._to)) as server:
            back = threading.Thread(target=self._pass, args=(server, client, self._note_answer),
                                    daemon=True)
            back.start()
            self._pass(client, server, self._send_or_hold)
            back.join()

    @staticmethod
    def _pass(source, sink, send):
        with contextlib.suppress(OSError):  # the other end is gone
            for end in (source, sink):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while data := source.recv(1 << 16):
                send(sink, data)
        with contextlib.suppress(OSError):
            send(sink, b"")

    @staticmethod
    def _send(sink, data):
        if data:
            sink.sendall(data)
        else:
            sink.shutdown(socket.SHUT_WR)

    def _send_or_hold(self, server, data):
        with self._lock:
            self._send_unless_held(server, data)

    def _send_unless_held(self, server, data):
        self._holding = self._holding or any(mark in data for mark in self._hold_from)
        if self._holding:
            self._held.append((server, data))
        else:
            self._send(server, data)

    def _note_answer(self, client, data):
        with self._lock:
            self._answered += data
        self._send(client, data)
