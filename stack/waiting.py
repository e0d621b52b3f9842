"""Waiting that ends: every wait has a limit and an error that names what was awaited."""

import time


class NotInTime(TimeoutError):
    pass


def wait_until(predicate, timeout, what):
    """Calls `predicate` until it answers something true, and returns that. OSError (refused, reset,
    timed out) means "not yet"; any other exception is the caller's and ends the wait at once."""
    deadline = time.monotonic() + timeout
    pause, last_error = 0.01, None
    while True:
        try:
            answer = predicate()
            if answer:
                return answer
        except NotInTime:
            raise
        except OSError as error:
            last_error = error
        if time.monotonic() >= deadline:
            because = f" (last answer: {last_error})" if last_error else ""
            raise NotInTime(f"waited {timeout:g} s for {what}{because}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.1)
