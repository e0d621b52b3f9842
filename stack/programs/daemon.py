"""One daemon of Fanline through all its lives: killed, stopped, started again on the same port."""

import http.client
import json
import time

from stack.programs import BIN
from stack.programs.metrics import Samples
from stack.services.service import ServiceFailed
from stack.waiting import wait_until

_HTTP_TIMEOUT = 10


class Daemon:
    """`program` is a name such as fanline-pusher, `args` its options; all else it finds in the
    stack's environment. Its log goes on from life to life."""

    def __init__(self, stack, ports, program, name, args=(), env=None):
        self.name = name
        self.port = ports.take()
        self.programs = BIN  # for its next life
        self._stack = stack
        self._program = program
        self._args = ["--admin-listen", f"127.0.0.1:{self.port}", *args]
        self._env = env
        self._process = None
        self._past = Samples()  # of the lives that are over
        self._latest = Samples()
        self._latest_at = 0.0

    def start(self):
        if self._process:
            self._bury()  # it went by itself
        argv = [self.programs / self._program, *self._args]
        self._process = self._stack.spawn(self.name, argv, self._env)
        return self

    @property
    def process(self):
        return self._process

    @property
    def running(self):
        return self._process is not None and self._process.running

    def get(self, path, timeout=_HTTP_TIMEOUT):
        """Status and body of its admin port. OSError when it does not answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        except http.client.HTTPException as error:
            raise ConnectionError(f"{self.name}: {error!r}") from error
        finally:
            connection.close()

    def status(self, path):
        """As get, without the body; None when it does not answer."""
        try:
            return self.get(path)[0]
        except OSError:
            return None

    def named(self):
        """What /readyz names -> its words: what is away, and why the daemon is not ready."""
        said = json.loads(self.get("/readyz")[1])
        return {**said.get("away", {}), **said.get("reasons", {})}

    def has_all(self):
        """It is ready, and nothing is away."""
        try:
            return self.get("/readyz") == (200, '{"status":"ready"}\n')
        except OSError:
            return False

    def scrape(self):
        """Its present metrics, gauges too. OSError when it does not answer."""
        self._latest = Samples.parse(self.get("/metrics")[1])
        self._latest_at = time.monotonic()
        return self._latest

    def counters(self):
        """Counters and histograms of all its lives. A life that was killed without a look, or
        that does not answer, counts as of the last look."""
        if self.running:
            try:
                self.scrape()
            except OSError:
                pass
        return self._past + self._latest.cumulative()

    def wait_ready(self, timeout=120):
        def ready():
            self.check_alive()
            return self.status("/readyz") == 200

        wait_until(ready, timeout, f"{self.name} to be ready")
        return self

    def check_alive(self):
        """ServiceFailed, with its last words, when it is gone though nobody stopped it."""
        if self._process is not None and not self._process.running:
            raise ServiceFailed(f"{self.name} ended with code {self._process.exit_code}:\n"
                                f"{self._process.tail()}")

    def kill(self):
        """SIGKILL, right after a last look at its counters. Returns the seconds between the two:
        what it counted in them is lost."""
        self.counters()
        self._process.kill()
        unseen = time.monotonic() - self._latest_at
        self._bury()
        return unseen

    def stop(self, timeout=60):
        """SIGTERM; its exit code. TimeoutError when it is still there afterwards."""
        self.counters()
        self._process.terminate(timeout)
        code = self._process.exit_code
        self._bury()
        return code

    def pause(self):
        """SIGSTOP: its session and its connections stay until others give them up."""
        self._process.pause()

    def resume(self):
        self._process.resume()

    def _bury(self):
        self._past, self._latest = self._past + self._latest.cumulative(), Samples()
        self._process = None
