"""Waiting for work that takes as long as the machine needs: it ends when nothing moves any more."""

import time

from stack.waiting import NotInTime, wait_until

_STUCK = 300  # seconds without a move
_SAY_EVERY = 30
LONGEST = 4 * 3_600


class Patience:
    """Is shown now and then how far the work is. Says so every half minute, and raises NotInTime once
    it has stood still for five."""

    def __init__(self, what, say, clock=time.monotonic):
        self._what = what
        self._say = say
        self._clock = clock
        self._seen = None
        self._moved_at = self._said_at = clock()

    def look(self, done):
        """`done`: whatever differs once the work has moved."""
        now = self._clock()
        if done != self._seen:
            self._seen, self._moved_at = done, now
        if now >= self._moved_at + _STUCK:
            raise NotInTime(f"waited for {self._what}: nothing has moved for {_STUCK} s, {done}")
        if now >= self._said_at + _SAY_EVERY:
            self._said_at = now
            self._say(f"still waiting for {self._what}: {done}")


def wait_done(done, goal, what, say):
    """Returns once done() is at least `goal`."""
    patience = Patience(what, say)

    def reached():
        now = done()
        patience.look(f"{now:,.0f} of {goal:,.0f}")
        return now >= goal

    wait_until(reached, LONGEST, what)
