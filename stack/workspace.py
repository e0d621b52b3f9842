"""The folder a stack lives in: data, logs, secrets; gone when the stack is.

Memory (tmpfs) when there is room, since tests and benches should not measure a disk's mood; else
build/stack. A lock on a file in it holds a folder. Each start of a stack removes the folders that
nobody holds (a stack and its watchdog were killed together, or the machine went down).
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
_PREFIX = "fanline-stack-"
_ROOM = 2 << 30  # two MariaDB servers, a Kafka log and a Redis dump of a test or a demo
_LOCK = "lock"


class Workspace:
    def __init__(self, parent=None):
        parent = Path(parent) if parent else _roomiest()
        parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(parent)
        with _gate(parent):
            # mkdtemp makes it mode 700: passwords are in it.
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
            self._lock = os.open(self.path / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.logs = self.path / "logs"
        self.logs.mkdir()

    @property
    def id(self):
        return self.path.name[len(_PREFIX):]

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def _roomiest():
    memory = Path("/dev/shm")
    if memory.is_dir() and os.access(memory, os.W_OK):
        if min(shutil.disk_usage(memory).free, _available_memory() // 2) >= _ROOM:
            return memory
    return BUILD / "stack"


def _available_memory():
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


@contextlib.contextmanager
def _gate(parent):
    """Held while a folder is born or judged: between mkdir and its lock it would look abandoned."""
    gate = os.open(parent, os.O_RDONLY)
    try:
        fcntl.flock(gate, fcntl.LOCK_EX)
        yield
    finally:
        os.close(gate)


def _remove_abandoned(parent):
    with _gate(parent):
        for folder in parent.glob(_PREFIX + "*"):
            try:
                with open(folder / _LOCK, "r+") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
            except OSError:
                continue  # held, another user's, or being removed
