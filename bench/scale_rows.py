"""How deliveries grow, beside plain ZADD at the same size: with live timelines, and with the followers of one
author, of whom one in twenty is live. Each size has a stack of its own. Timelines hold 200 to 246 items, so
that a million of them and as many plain sets find room; each ZADD carries one post, since few timelines would
share more."""

from functools import partial

from bench.population import Authors, Population
from bench.rig import Rig
from bench.rows import deliveries

LIVE = (10_000, 100_000, 1_000_000)
FOLLOWERS = (10_000, 100_000, 1_000_000, 10_000_000)
_WINDOW = 200
_LIVE_PERCENT = 5
_DELIVERIES = 500_000  # of a round, while no timeline gets more than half a window
_ONE_POST = ("--items-per-zadd", "1")
# One author's list takes up to 5 MB in each range, and no list may take more than a thirty-second of the room.
_ROOM = ("--follower-lists", str(256 << 20))
# For the broker to get warm by.
_WARMING = Authors(first=35_000_000, count=4_000, followers=70, live_percent=20)


def scale_live(live, sizes, say):
    """Posts to 200 followers each, all live, drawn from so many live readers."""
    authors = Authors(first=10_000_000, count=_DELIVERIES // 200, followers=200, live_percent=100)
    yield from _measured(f"scale_live_{live}", live, authors, authors.count, sizes, say, _ONE_POST)


def scale_followers(followers, sizes, say):
    """Posts of one author with so many followers, whose list is known."""
    live = followers * _LIVE_PERCENT // 100
    author = Authors(first=10_000_000, count=1, followers=followers, live_percent=_LIVE_PERCENT)
    posts = min(max(1, _DELIVERIES // live), _WINDOW // 2)
    yield from _measured(f"scale_followers_{followers}", live, author, posts, sizes, say, _ONE_POST + _ROOM)


def _measured(name, live, authors, posts, sizes, say, pusher_args):
    population = Population(live, {"moderate": _WARMING, "measured": authors})
    sizes = sizes._replace(posts={"measured": posts})
    with Rig(population, say, window=_WINDOW) as rig:
        measure = partial(deliveries, rig, sizes, "measured", "compact", pusher_args=pusher_args)
        yield from ({**row, "name": name} for row in measure())
