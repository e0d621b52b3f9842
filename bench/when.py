"""When something first holds, looked for beside what makes it so."""

import threading
import time


class When(threading.Thread):
    """Looks from now on, until the predicate holds or for so many seconds."""

    def __init__(self, predicate, patience, look_every):
        super().__init__(daemon=True)
        self._predicate, self._patience, self._look_every = predicate, patience, look_every
        self._at = None
        self.start()

    def run(self):
        deadline = time.monotonic() + self._patience
        while time.monotonic() < deadline:
            if self._predicate():
                self._at = time.monotonic()
                return
            time.sleep(self._look_every)

    def at(self):
        """By time.monotonic(). TimeoutError: it did not hold in time."""
        self.join()
        if self._at is None:
            raise TimeoutError(f"not within {self._patience} s")
        return self._at
