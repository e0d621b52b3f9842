"""Readers who come for their timelines over HTTP, which makes these live."""

import contextlib
import http.client
import itertools
import time
from concurrent.futures import ThreadPoolExecutor

from stack.programs.api import Api
from stack.waiting import NotInTime

_PAUSE = 0.02  # seconds
_NUMBERS = itertools.count(1)


@contextlib.contextmanager
def visited(stack, ports):
    """A process of the API for the readers of this block alone."""
    api = Api(stack, ports, f"api-for-visits-{next(_NUMBERS)}").start()
    try:
        yield api
    finally:
        if api.running:
            api.stop()


def make_live(api, readers, clients=8, patience=120):
    """They come until each has a live timeline; NotInTime when that does not happen."""
    readers, give_up = list(readers), time.monotonic() + patience

    def come(some):
        with contextlib.closing(api.client()) as client:
            while some := [reader for reader in some if not _finds_live(client, reader)]:
                api.check_alive()
                if time.monotonic() > give_up:
                    raise NotInTime(f"waited {patience} s for {len(some)} live timelines, such as {some[:3]}")
                time.sleep(_PAUSE)

    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(come, (readers[first::clients] for first in range(clients))))


def _finds_live(client, reader):
    try:
        answer = client.get(f"/v1/users/{reader}/timeline?limit=1")
    except (OSError, http.client.HTTPException):
        client.close()
        return False
    return answer.status == 200 and answer.json["state"] == "live"
