"""Faults of which each has an alert: it fires, what its runbook says is typed, and it ends when the fault is mended. Every `for` is two
seconds and every time over which an alert counts is a minute; thresholds are as they are, so they are harder to reach."""

import time

from tests.monitoring import runbook
from tests.monitoring.watched import Watched

PATIENCE = 180  # seconds


class Provoked(Watched):
    window = 60

    def setUp(self):
        super().setUp()
        self.begun()

    def begun(self):
        """A fault begins, or is mended, now."""
        self.since = time.monotonic()

    def wait_fires(self, alert, timeout=PATIENCE, **labels):
        super().wait_fires(alert, timeout, **labels)
        print(f"{alert} {labels or ''} fires {self.seconds} s after the fault began", flush=True)

    def wait_silent(self, alert, timeout=PATIENCE, **labels):
        super().wait_silent(alert, timeout, **labels)
        print(f"{alert} {labels or ''} has ended {self.seconds} s after the fault was mended", flush=True)

    @property
    def seconds(self):
        return f"{time.monotonic() - self.since:.0f}"

    def type_of(self, alert, begin, written=None, codes=(0,)):
        """Types the command of the alert's runbook that begins so; what it prints."""
        return runbook.type_command(self.stack, runbook.command_of(alert, begin), written, codes)

    def ask_shards(self, alert, begin=""):
        """Asks each shard what the runbook says to ask, and begins so; the rows of all."""
        return [row for shard in self.stack.mysql for row in shard.query(runbook.command_of(alert, begin, "sql"))]

    @staticmethod
    def at(daemon):
        return f"127.0.0.1:{daemon.port}"
