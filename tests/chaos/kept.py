"""A daemon under a supervisor's care: what the harness ends comes again; what ends by itself comes
again too, and is told."""

import signal
import threading
import time

ORDERLY, WORK_LEFT = 0, 75  # exit codes after SIGTERM (daemon/run/run.h)
LEAVES_WITHIN_S = 20


def _now_ms():
    return time.time_ns() // 1_000_000


class Kept:
    """Thread-safe. `complain` is given what must not happen."""

    def __init__(self, daemon, complain):
        self.daemon = daemon
        self.name = daemon.name
        self._complain = complain
        self._lock = threading.RLock()
        self._wanted = False
        self.wordless_ms = []  # when it ended without telling anybody: killed, or left with work left

    def start(self):
        with self._lock:
            if not self.daemon.running:
                self._note_end()
                self.daemon.start()
            self._wanted = True
        return self

    def kill(self):
        with self._lock:
            if self._still_there():
                self._wanted = False
                self.wordless_ms.append(_now_ms())
                self.daemon.kill()

    def stop(self):
        """SIGTERM. It must leave by itself, in time."""
        with self._lock:
            if not self._still_there():
                return
            self._wanted = False
            begun = bool(self.daemon.process.output())
            code = self.daemon.stop(LEAVES_WITHIN_S)
            # Before its first line it heeds no signal yet, as any process.
            if code == WORK_LEFT:
                self.wordless_ms.append(_now_ms())
            if code not in (ORDERLY, WORK_LEFT) and (begun or code != -signal.SIGTERM):
                self._complain(f"{self.name} did not leave in good order: code {code}")

    def pause(self):
        with self._lock:
            if self._still_there():
                self.daemon.pause()

    def resume(self):
        with self._lock:
            if self.daemon.running:
                self.daemon.resume()

    def look(self):
        """Starts it again when it ended by itself."""
        if self._lock.acquire(blocking=False):
            try:
                if self._wanted and not self.daemon.running:
                    self.start()
            finally:
                self._lock.release()

    def _still_there(self):
        self._note_end()
        return self.daemon.running

    def _note_end(self):
        process = self.daemon.process
        if self._wanted and process is not None and not process.running:
            self._wanted = False
            self._complain(f"{self.name} ended by itself with code {process.exit_code}; its last "
                           f"words:\n{process.tail(8)}")
