"""One line per step while it runs, and its outcome: a bar on a terminal, plain lines in a log."""

import sys
import threading
import time

_BAR = 24
_TITLE = 26
_REDRAW_S = 0.1  # of a bar
_REPEAT_S = 5.0  # of plain lines: somebody may be watching a log


class Progress:
    """Thread-safe. `step()` is a context whose `at(share)` may be called as often as one likes."""

    def __init__(self, stream=None):
        self.stream = stream or sys.stdout
        self.terminal = self.stream.isatty()
        self._lock = threading.Lock()

    def say(self, line=""):
        with self._lock:
            print(line, file=self.stream, flush=True)

    def step(self, title):
        return Step(self, title)

    def draw(self, text, final):
        with self._lock:
            if self.terminal:
                self.stream.write(f"\r\x1b[K{text}" + ("\n" if final else ""))
                self.stream.flush()
            else:
                print(text, file=self.stream, flush=True)


class Step:
    def __init__(self, progress, title):
        self._progress = progress
        self._title = title
        self._note = ""
        self._drawn_at = 0.0

    def __enter__(self):
        self._begin = self._drawn_at = time.monotonic()
        if self._progress.terminal:
            self._progress.draw(self._line("", 0.0), final=False)
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self._progress.draw(self._line("done", 1.0), final=True)
        elif self._progress.terminal:
            self._progress.say()  # what is said next has a line of its own

    @property
    def seconds(self):
        return time.monotonic() - self._begin

    def at(self, share):
        now = time.monotonic()
        if now - self._drawn_at < (_REDRAW_S if self._progress.terminal else _REPEAT_S):
            return
        self._drawn_at = now
        self._progress.draw(self._line("", min(share, 1.0)), final=False)

    def note(self, text):
        """Replaces the text behind the title."""
        self._note = text

    def _line(self, state, share):
        if self._progress.terminal:
            full = round(_BAR * share)
            mark = "\x1b[32m" if state else "\x1b[36m"
            middle = f"{mark}{'━' * full}\x1b[90m{'━' * (_BAR - full)}\x1b[0m"
        else:
            middle = state or f"{share:4.0%}"
        return f"  {self._title:<{_TITLE}} {middle:<4} {self.seconds:6.1f} s  {self._note}".rstrip()
