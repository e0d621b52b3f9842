"""Processes that cannot outlive their stack.

Three nets, since each has a hole. PR_SET_PDEATHSIG makes the kernel kill a child the moment we die,
but not the child's own children. A process group is killed as a whole, but a member can leave it. A
tag in the environment (tag.py) is inherited by every descendant that does not wipe it; the watchdog
kills by it when we are gone, however we went.
"""

import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from stack.waiting import wait_until

# The kernel sends the death signal when the *thread* that forked ends, so all forks are made by one
# that lives as long as we do.
_forks = ThreadPoolExecutor(max_workers=1, thread_name_prefix="forks")
_DYING_WITH_US = ["/usr/bin/setpriv", "--pdeathsig", "KILL", "--"]


class Process:
    """One supervised process. Its exit code is negative for a signal, as in subprocess.

    Give it `log`, a file to append to, or it shares our own output. `own_group=False` is for a
    program in the foreground of a terminal: it must be able to read it and to see Ctrl-C."""

    def __init__(self, name, argv, env, log=None, cwd=None, own_group=True,
                 stdin=subprocess.DEVNULL):
        self.name = name
        self.argv = [str(word) for word in argv]
        self.log = Path(log) if log else None
        self._own_group = own_group
        self._log_start = self.log.stat().st_size if log and self.log.exists() else 0
        output = open(self.log, "ab") if self.log else None
        try:
            self._popen = _forks.submit(
                subprocess.Popen, _DYING_WITH_US + self.argv, env=env, cwd=cwd, stdin=stdin,
                stdout=output, stderr=subprocess.STDOUT if output else None,
                process_group=0 if own_group else None).result()
        finally:
            if output:
                output.close()

    @property
    def pid(self):
        return self._popen.pid

    @property
    def running(self):
        return self._popen.poll() is None

    @property
    def exit_code(self):
        return self._popen.poll()

    def wait(self, timeout=None):
        """The exit code; TimeoutError when it is still running after `timeout` seconds."""
        try:
            return self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            raise TimeoutError(
                f"waited {timeout:g} s for {self.name} (pid {self.pid}) to exit") from None

    def signal(self, number):
        if not self.running:
            return
        try:
            if self._own_group:
                os.killpg(self.pid, number)
            else:
                os.kill(self.pid, number)
        except ProcessLookupError:
            pass

    def pause(self):
        """SIGSTOP: alive, holding its connections, answering nothing from now on. The kernel stops all
        threads once one of them has taken the signal, which takes its time on a busy machine."""
        self.signal(signal.SIGSTOP)
        wait_until(lambda: not self.running or self._stopped(), 10, f"{self.name} to stand still")

    def _stopped(self):
        threads = [(thread / "stat").read_text() for thread in Path(f"/proc/{self.pid}/task").iterdir()]
        return all(stat.rpartition(") ")[2][0] in "TtZX" for stat in threads)

    def resume(self):
        self.signal(signal.SIGCONT)

    def kill(self):
        """SIGKILL, as a power cut would."""
        self.signal(signal.SIGKILL)
        return self.wait(10)

    def terminate(self, timeout=10):
        """SIGTERM, and SIGKILL when it has not left in time."""
        self.signal(signal.SIGTERM)
        self.resume()  # a stopped process takes no SIGTERM
        try:
            return self.wait(timeout)
        except TimeoutError:
            return self.kill()

    def output(self):
        """What this run wrote to its log so far."""
        with open(self.log, "rb") as log:
            log.seek(self._log_start)
            return log.read().decode(errors="replace")

    def tail(self, lines=30):
        return "\n".join(self.output().splitlines()[-lines:])
