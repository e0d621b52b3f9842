"""The command line, run beside a stack and under its supervision."""

import itertools
import json

from stack.programs import BIN
from stack.waiting import wait_until


class FeedctlFailed(Exception):
    pass


class Feedctl:
    """Thread-safe. The stack's logs folder keeps what a command prints, its complaints and the
    lines it was given."""

    def __init__(self, stack):
        self.programs = BIN  # where it is from now on
        self._stack = stack
        self._numbers = itertools.count(1)

    def run(self, *words, lines=None, timeout=120):
        """What it printed; FeedctlFailed with what it complained about. `lines` become a file for
        its --from."""
        return self.start(*words, lines=lines).finish(timeout)

    def json(self, *words, timeout=120, codes=(0,)):
        """The same of a command that answers JSON. `codes`: what it may exit with."""
        return json.loads(self.start(*words).finish(timeout, codes))

    def start(self, *words, lines=None):
        name = f"feedctl-{next(self._numbers)}-{words[0]}"
        words = list(words)
        if lines is not None:
            given = self._stack.logs / f"{name}.in"
            given.write_text("".join(f"{line}\n" for line in lines))
            words += ["--from", given]
        errors = self._stack.logs / f"{name}.err"
        keep_apart = ["/bin/sh", "-c", 'exec "$@" 2>"$0"', errors]
        process = self._stack.spawn(name, [*keep_apart, self.programs / "feedctl", *words])
        return Running(process, " ".join(map(str, words)), errors)


class Running:
    def __init__(self, process, command, errors):
        self._process = process
        self._command = command
        self._errors = errors

    @property
    def running(self):
        return self._process.running

    @property
    def exit_code(self):
        return self._process.exit_code

    def interrupt(self, signal):
        self._process.signal(signal)

    @property
    def last_word(self):
        """The last line it complained or reported on the way; "" if none."""
        lines = self._read_errors().splitlines()
        return lines[-1] if lines else ""

    def finish(self, timeout, codes=(0,)):
        """Waits for its end; what it printed."""
        try:
            wait_until(lambda: not self._process.running, timeout, f"feedctl {self._command}")
        except TimeoutError:
            self._process.kill()
            raise
        if self._process.exit_code not in codes:
            raise FeedctlFailed(f"feedctl {self._command} ended with "
                                f"{self._process.exit_code}: {self._read_errors().strip()}")
        return self._process.output()

    def _read_errors(self):
        return self._errors.read_text(errors="replace") if self._errors.exists() else ""
