"""Posts that are pushed while something else is measured: at a share of what a burst reaches."""

import math
import time
from contextlib import contextmanager

_BLOCK = "moderate"  # of authors
_PATIENCE = 300
# Whoever publishes a thousand posts a second lets them wait for each other, as a burst does: at
# librdkafka's 5 ms each would be a request of its own, and the broker's cost would be measured.
_LINGER = "50ms"


def burst(rig):
    """Events per second when each author posts once, as fast as it goes."""
    authors, hints, begin = rig.population.authors[_BLOCK], rig.pushed(), time.perf_counter()
    rig.publish(authors, authors.count)
    rig.wait_pushed(hints + authors.count * rig.ranges)
    return authors.count / (time.perf_counter() - begin)


@contextmanager
def pushing(rig, rate, seconds):
    """Posts appear at a steady rate until the end of the block, which must come within `seconds`."""
    authors = rig.population.authors[_BLOCK]
    turns = math.ceil(rate * seconds / authors.count)
    publisher = rig.start_publishing(authors, turns * authors.count, rate, _LINGER)
    try:
        yield
        assert publisher.poll() is None, "the posts did not last"
    finally:
        publisher.terminate()
        publisher.wait(_PATIENCE)
