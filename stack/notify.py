"""The end of systemd's notification protocol (sd_notify(3)) where systemd would be: a socket, and what a
daemon has said to it."""

import os
import socket
import threading
import time

from stack.waiting import wait_until


class NotifySocket:
    """`path`: a file that is not there yet. `messages`: (seconds of time.monotonic, {key: value}) of each datagram."""

    def __init__(self, path):
        self.path = path
        self.messages = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))
        os.chmod(path, 0o666)  # daemons run as others
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        while datagram := self._socket.recv(65536):
            lines = datagram.decode().splitlines()
            self.messages.append((time.monotonic(), dict(line.split("=", 1) for line in lines)))

    def environment(self, watchdog_s=None):
        """What systemd would put into the environment of a unit with that WatchdogSec."""
        told = {"NOTIFY_SOCKET": str(self.path)}
        if watchdog_s:
            told["WATCHDOG_USEC"] = str(int(watchdog_s * 1_000_000))
        return told

    def said(self, key):
        """Every value of that key so far, in order."""
        return [message[key] for _, message in list(self.messages) if key in message]

    def times(self, key):
        return [at for at, message in list(self.messages) if key in message]

    def wait_for(self, key, value=None, timeout=60):
        """Until the latest value of the key is that one, or there is any."""
        wait_until(lambda: self.said(key)[-1:] == [value] if value else self.said(key), timeout,
                   f"{key}={value or ''}; there was {self.messages[-3:]}")

    def close(self):
        sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        sender.sendto(b"", str(self.path))  # ends the reader
        self._thread.join()
        sender.close()
        self._socket.close()
        os.unlink(self.path)
