"""What processes spend and hold."""

from collections import Counter
from pathlib import Path

from stack.programs.cpu import cpu_seconds


def rss_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    raise ProcessLookupError(pid)


def compiler_seconds(pid):
    """CPU seconds that a Java process has spent on compiling so far, of the threads that are still there."""
    spent = 0.0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        try:
            name = (thread / "comm").read_text()
        except OSError:  # it has ended
            continue
        if name.startswith(("C1 Compiler", "C2 Compiler")):
            spent += cpu_seconds(f"{pid}/task/{thread.name}")
    return spent


class CpuMeter:
    """CPU seconds by name since it was made, in steps of 10 ms. `pids`: name -> the processes
    counted under it."""

    def __init__(self, pids):
        self._pids = pids
        self._begin = self._now()

    def spent(self):
        now = self._now()
        return Counter({name: now[name] - self._begin[name] for name in now})

    def _now(self):
        return {name: sum(map(cpu_seconds, pids)) for name, pids in self._pids.items()}
