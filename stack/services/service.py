"""What all services share: a port for life, ready means it answered a real question, restart keeps
port and data."""

import threading
import time

from stack.process import Process
from stack.waiting import wait_until

_BIND_FAILURE = "ddress already in use"  # the words of Redis, MariaDB and the JVM alike
_PORT_ATTEMPTS = 5


class ServiceFailed(Exception):
    pass


class Service:
    """A subclass gives `prepare()` (once, makes the data), `argv()` and `answers()` (true when it
    serves; OSError while it does not). Not thread-safe, but for `abandon()`; different services may
    start at the same time."""

    start_timeout = 180
    ports_wanted = 1

    def __init__(self, name, workspace, ports, env, links=None):
        """`links`: of a stack whose programs come through them (stack/network)."""
        self.name = name
        self.data = workspace.path / name
        self.log = workspace.logs / f"{name}.log"
        self.ready_after = None  # seconds the latest start took
        self._ports = ports
        self._env = env
        self._links = links
        self._announced_port = None
        self._taken = []
        self._process = None
        self._wanted = False
        self._forking = threading.Lock()
        self._abandoned = False

    @property
    def port(self):
        return self._taken[0]

    @property
    def address(self):
        """The harness's own way to it."""
        return f"127.0.0.1:{self.port}"

    @property
    def announced_port(self):
        """The port that programs are told: the link's where there is one."""
        return self._announced_port or self.port

    @property
    def announced(self):
        return f"127.0.0.1:{self.announced_port}"

    @property
    def linked_port(self):
        """Where its link leads."""
        return self.port

    @property
    def pid(self):
        return self._process.pid

    @property
    def running(self):
        return self._process is not None and self._process.running

    @property
    def failed(self):
        """True when it is gone and nobody asked it to go."""
        return self._wanted and not self.running

    def start(self):
        """Starts it, or starts it again on the same port with the data it left. Returns when it
        serves."""
        begin = time.monotonic()
        if not self._taken:
            self._first_start()
        else:
            self._launch()
            self._wait_ready()
        self.ready_after = time.monotonic() - begin
        return self

    def stop(self, timeout=15):
        """SIGTERM: it saves what it would save in production."""
        self._wanted = False
        if self._process:
            self._process.terminate(timeout)

    def kill(self):
        """SIGKILL: it keeps what its durability settings had made safe."""
        self._wanted = False
        if self._process:
            self._process.kill()

    def pause(self):
        """SIGSTOP: connections stay, answers do not come."""
        self._process.pause()

    def resume(self):
        self._process.resume()

    def abandon(self):
        """Ends a start that goes on in another thread, and allows no other."""
        with self._forking:
            self._abandoned = True
        self.kill()

    def tail(self, lines=60):
        return self._process.tail(lines) if self._process else ""

    def _first_start(self):
        self.data.mkdir()
        self.prepare()
        for _ in range(_PORT_ATTEMPTS):
            self._taken = [self._ports.take() for _ in range(self.ports_wanted)]
            if self._links is not None:
                self._announced_port = self._links.lead(self.name, self.linked_port)
            self._launch()
            try:
                return self._wait_ready()
            except ServiceFailed:
                if self._process.running or _BIND_FAILURE not in self._process.output():
                    raise
                for port in self._taken:
                    self._ports.give_back(port)
        raise ServiceFailed(f"{self.name}: {_PORT_ATTEMPTS} ports in a row were taken by others")

    def _launch(self):
        if self.running:
            raise ServiceFailed(f"{self.name} is already running (pid {self.pid})")
        self._fork(self.name, self.argv())
        self._wanted = True

    def _fork(self, name, argv):
        with self._forking:
            if self._abandoned:
                raise ServiceFailed(f"{self.name}: its start was given up")
            self._process = Process(name, argv, self._env, self.log, cwd=self.data)

    def _wait_ready(self):
        def ready_or_dead():
            return self._process.exit_code is not None or self.answers()

        wait_until(ready_or_dead, self.start_timeout, f"{self.name} to answer on {self.address}")
        if not self._process.running:
            raise ServiceFailed(f"{self.name} ended with code {self._process.exit_code} instead of "
                                f"serving:\n{self.tail()}")

    def _run_to_end(self, argv, timeout=60):
        """A helper program of prepare(), its output in the service's log."""
        self._fork(f"{self.name}'s {argv[0]}", argv)
        if self._process.wait(timeout) != 0:
            raise ServiceFailed(f"{self._process.name} failed:\n{self.tail()}")
