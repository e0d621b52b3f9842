"""The mark that every process of a stack carries in its environment, and the sweep that kills all
processes that carry it.

One variable per stack, so that a stack started inside another carries both marks.
"""

import os
import signal
import time

_PREFIX = "FANLINE_STACK_TAG_"


def variable(stack_id):
    return _PREFIX + stack_id


def without_tags(env):
    return {name: value for name, value in env.items() if not name.startswith(_PREFIX)}


def carriers(stack_id):
    mark = variable(stack_id).encode() + b"="
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            with open(f"/proc/{entry}/environ", "rb") as environ:
                if any(item.startswith(mark) for item in environ.read().split(b"\0")):
                    found.append(int(entry))
        except OSError:
            continue  # gone meanwhile, or not ours to read
    return found


def sweep(stack_id, seconds=10):
    """Kills carriers until a look finds none: one look can miss a child forked meanwhile."""
    deadline = time.monotonic() + seconds
    while (found := carriers(stack_id)) and time.monotonic() < deadline:
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.02)
