"""What goes on while a test does something else; and tests that `make test-long` alone runs."""

import contextlib
import os
import random
import threading
import unittest

from stack.programs.visits import visited

_POSTS_AT_ONCE = 10
_PAUSE = 0.05  # seconds

long = unittest.skipUnless(os.environ.get("FANLINE_TEST_LONG"), "a test of make test-long")


@contextlib.contextmanager
def publishing(installation, authors, seed=1):
    """Posts appear and some go again, some two hundred a second, until the end of the block. Nothing
    else may send events meanwhile."""
    draw, authors = random.Random(seed), list(authors)

    def publish():
        chosen = draw.sample(authors, _POSTS_AT_ONCE)
        posts = installation.publish_all(chosen)
        installation.delete(chosen[0], posts[0])

    with again_and_again(publish):
        yield


@contextlib.contextmanager
def reading(installation, readers):
    """All of them come for their timelines again and again, also in vain."""
    with visited(installation.stack, installation.ports) as api:
        api.wait_ready()
        with contextlib.closing(api.client()) as client:
            def read():
                for reader in readers:
                    client.get(f"/v1/users/{reader}/timeline?limit=1")

            with again_and_again(read):
                yield


class Again(threading.Thread):
    """Does it again and again until it is ended; what failed meanwhile is raised there."""

    def __init__(self, do, pause=_PAUSE):
        super().__init__(daemon=True)
        self._do, self._pause, self._over, self._failed = do, pause, threading.Event(), None

    def run(self):
        try:
            while not self._over.wait(self._pause):
                self._do()
        except Exception as error:  # the test's thread raises it
            self._failed = error

    def end(self):
        self._over.set()
        self.join()
        if self._failed:
            raise self._failed


@contextlib.contextmanager
def again_and_again(do, pause=_PAUSE):
    """Until the end of the block; what fails meanwhile fails the test."""
    again = Again(do, pause)
    again.start()
    try:
        yield
    finally:
        again.end()
