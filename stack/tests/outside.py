"""A stack seen from outside its process: what runs, what listens, what lies about."""

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

from stack import tag
from stack.waiting import wait_until
from stack.workspace import ROOT

WITH_STACK = ROOT / "stack" / "with-stack"
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class OutsideStack:
    """`with-stack` around a shell script, in a process group of its own as a terminal would put it,
    its folder in one of ours, and with a mark of ours on all its processes."""

    def __init__(self, script, folder=None):
        self.folder = Path(folder or tempfile.mkdtemp(prefix="fanline-test-", dir=MEMORY))
        self._mark = secrets.token_hex(8)
        self._seen = self.folder / f"env-{self._mark}"
        script = f"env > {self._seen}.new; mv {self._seen}.new {self._seen}; {script}"
        self.process = subprocess.Popen(
            [WITH_STACK, "--shards", "1", "--data", self.folder, "/bin/sh", "-c", script],
            env=os.environ | {tag.variable(self._mark): "1"}, process_group=0,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait_for_program(self):
        wait_until(self._seen.exists, 180, "the program to run inside its stack")
        return self

    def wait_for_end(self):
        """Its exit code, what it said, what it complained about."""
        output, errors = self.process.communicate(timeout=180)
        return self.process.returncode, output, errors

    def programs(self):
        """Pids of everything that was started in and by with-stack, itself excepted."""
        return [pid for pid in tag.carriers(self._mark) if pid != self.process.pid]

    def listening(self):
        if not self._seen.exists():
            return []
        return [port for port in ports_of(self._env()) if accepts(port)]

    def watchdogs(self):
        return [pid for pid, words in command_lines() if "stack.watchdog" in words
                and any(word.startswith(str(self.folder)) for word in words)]

    def folders(self):
        return list(self.folder.glob("fanline-stack-*"))

    def remains(self):
        """Everything a stack could leave behind."""
        return self.programs() + self.listening() + self.watchdogs() + self.folders()

    def close(self):
        self.process.kill()
        tag.sweep(self._mark)
        self.process.communicate()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _env(self):
        lines = self._seen.read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line)


def ports_of(env):
    shards = env["FANLINE_MYSQL_SHARDS"].split(",")
    addresses = [env["FANLINE_KAFKA_BROKERS"], env["FANLINE_REDIS"]]
    addresses += [shard.removeprefix("tcp://").split("/")[0] for shard in shards]
    return [int(address.rsplit(":", 1)[1]) for address in addresses]


def accepts(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def command_lines():
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            yield int(entry), Path(f"/proc/{entry}/cmdline").read_text(errors="replace").split("\0")
        except OSError:
            continue  # gone meanwhile
