"""Outlives a stack's own process: when that is killed, it kills whatever carries the stack's tag
and removes its folder.

It holds the reading end of a pipe whose writing end only the stack's process has, so the end of
file is that process's end, whether it left, crashed or was killed -9. It detaches itself, so that
the kill of a whole family of processes does not reach it.
"""

import os
import shutil
import subprocess
import sys

from stack import tag
from stack.workspace import ROOT


def start(workspace):
    """The writing end: keep it open for as long as the stack may live."""
    reading, writing = os.pipe()
    subprocess.run(
        ["/usr/bin/python3", "-S", "-m", "stack.watchdog", workspace.id, workspace.path],
        stdin=reading, check=True, cwd=ROOT, env=tag.without_tags(os.environ))
    os.close(reading)
    return writing


def _main(stack_id, folder):
    if os.fork():
        os._exit(0)
    os.setsid()
    # A reader that waits for the end of our caller's output must not wait for us.
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)
    os.chdir("/")
    while os.read(0, 1):
        pass
    tag.sweep(stack_id)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    _main(*sys.argv[1:])
