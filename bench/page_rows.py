"""The rows about reading: pages through the library, over HTTP, while posts are pushed, and below the
floor. Every function yields one row or several."""

import statistics
import time
from contextlib import contextmanager

from bench.fanout import burst, pushing
from bench.measure import interleaved, row
from bench.population import FIRST_LIVE, Authors

_ITEMS = 50  # of a page
_READS_A_SECOND = 200  # beside them: as of readers, not as many as come
_FIRST_READER = 10_000_000_000  # bench/rebuild.cpp
_REPOSTING = 3_000_000_000  # the first reader whose timeline holds reposts
_PAGES_A_SECOND = 10_000  # about so many come: how long a round of sizes.pages takes
_PLAIN = "plain ZRANGE through hiredis, one call at a time"


def page_library(rig, sizes):
    """The newest items of a live timeline, beside a plain ZRANGE: a call waits for the one before."""
    rig.scene("compact")
    pairs = interleaved(sizes.rounds, lambda _: _one_by_one(rig, sizes, "library"),
                        lambda _: _one_by_one(rig, sizes, "plain"))
    yield _row("page_library", pairs, _PLAIN)


def page_http(rig, sizes):
    """The same over HTTP, beside the same ZRANGE."""
    rig.scene("compact")
    with _api(rig) as api:
        pairs = interleaved(sizes.rounds, lambda _: _load(rig, sizes, api),
                            lambda _: _one_by_one(rig, sizes, "plain"))
    yield _row("page_http", pairs, _PLAIN,
               p99_ms=statistics.median(mine["p99_ms"] for mine, _ in pairs))


def page_p99_under_fanout(rig, sizes):
    """The slowest pages while posts are pushed at half of what a burst reaches, beside the same on
    an idle fleet."""
    rig.scene("compact")
    rate = burst(rig) / 2
    steady = "--rate", _READS_A_SECOND

    def busy(_):
        with pushing(rig, rate, 10 * _seconds(sizes) + 10):
            time.sleep(_seconds(sizes))  # until the fleet is at work
            return _load(rig, sizes, api, *steady)

    def idle(_):
        rig.wait_idle()
        return _load(rig, sizes, api, *steady)

    with _api(rig) as api:
        pairs = interleaved(sizes.rounds, busy, idle)
    rig.wait_idle()
    yield row("page_p99_under_fanout", [mine["p99_ms"] for mine, _ in pairs], "ms, p99",
              "the same on an idle fleet", [other["p99_ms"] for _, other in pairs],
              pages_per_second=_READS_A_SECOND, events_per_second=rate,
              p50_ms=statistics.median(mine["p50_ms"] for mine, _ in pairs),
              beside_p50_ms=statistics.median(other["p50_ms"] for _, other in pairs))


def hybrid_page(rig, sizes):
    """Pages of readers who follow ten authors merged at read, whose posts are more than half of each
    page, beside pages of readers who follow none such."""
    rig.scene("compact")
    readers = rig.population.live // 20
    merged = Authors(first=60_000_000, count=10, followers=readers, live_percent=100)
    rig.merge_at_read(merged, range(FIRST_LIVE, FIRST_LIVE + readers))
    rig.publish(merged, 3 * merged.count)
    rig.wait_idle()
    for reader, marks in ((FIRST_LIVE, merged.count), (FIRST_LIVE + readers, 0)):
        assert rig.marks(reader) == marks, f"reader {reader} has {rig.marks(reader)} marks"

    def load(first):
        return _load(rig, sizes, api, first=first, readers=readers)

    with _api(rig) as api:
        pairs = interleaved(sizes.rounds, lambda _: load(FIRST_LIVE),
                            lambda _: load(FIRST_LIVE + readers))
    yield _row("hybrid_page", pairs, "readers who follow no such author", merged_authors=merged.count,
               p99_ms=statistics.median(mine["p99_ms"] for mine, _ in pairs),
               beside_p99_ms=statistics.median(plain["p99_ms"] for _, plain in pairs))


def page_below_floor(rig, sizes):
    """The page right below the floor, of readers who follow 200 authors, beside the two statements
    that an application would type."""
    rig.no_relations()
    readers = max(2, sizes.pages // 200)
    made = ("--readers", readers, "--followees", 200, "--posts", 20)
    rig.helper("fanline-bench-rebuild", "fill", *made)
    rig.helper("fanline-bench-rebuild", "rebuild", *made)
    asked = ("--first-reader", _FIRST_READER + 200 * 1_000_000, "--readers", readers, "--limit",
             _ITEMS, "--pages", sizes.pages // 20)
    pairs = interleaved(sizes.rounds, lambda _: rig.helper("fanline-bench-pages", "below", *asked),
                        lambda _: rig.helper("fanline-bench-pages", "bare", *asked))
    yield _row("page_below_floor", pairs, "the bare statements", followees=200)


def page_reposts(rig, sizes):
    """First and second pages of timelines where a third of the members are reposts, and pages of timelines of 450
    reposts of five posts, beside the same of timelines without reposts. Over HTTP, as states of originals are
    remembered there."""
    rig.scene("compact")
    readers = rig.population.live // 20
    thirds, folded = _REPOSTING, _REPOSTING + readers
    rig.fill(thirds, readers, 450, 450, None, "--originals", 150)
    rig.fill(folded, readers, 450, 450, None, "--originals", 5, "--reposts-every", 1)
    with _api(rig) as api:
        for name, first, more in (("page_reposts", thirds, ()), ("page2_reposts", thirds, ("--behind", _ITEMS)),
                                  ("page_folded", folded, ())):
            pairs = interleaved(sizes.rounds,
                                lambda _: _load(rig, sizes, api, *more, first=first, readers=readers),
                                lambda _: _load(rig, sizes, api, *more, readers=readers))
            yield _row(name, pairs, "timelines without reposts",
                       p99_ms=statistics.median(mine["p99_ms"] for mine, _ in pairs),
                       beside_p99_ms=statistics.median(plain["p99_ms"] for _, plain in pairs))


def page_below_floor_reposts(rig, sizes):
    """The page right below the floor, of readers who follow 1,000 authors who all reposted one post, as 100,000
    others did, beside readers of as many authors without reposts."""
    rig.no_relations()
    readers = max(2, sizes.pages // 1_000)

    def made(followees, *more):
        asked = ("--readers", readers, "--followees", followees, "--posts", 20)
        rig.helper("fanline-bench-rebuild", "fill", *asked, *more)
        rig.helper("fanline-bench-rebuild", "rebuild", *asked)
        return ("--first-reader", _FIRST_READER + followees * 1_000_000, "--readers", readers, "--limit", _ITEMS,
                "--pages", sizes.pages // 50, "--deep")

    reposts, plain = made(1_000, "--reposters", sizes.reposters), made(1_002)
    pairs = interleaved(sizes.rounds, lambda _: rig.helper("fanline-bench-pages", "below", *reposts),
                        lambda _: rig.helper("fanline-bench-pages", "below", *plain))
    yield _row("page_below_floor_reposts", pairs, "readers without reposts", followees=1_000,
               reposters=sizes.reposters)


# ---- what they need -----------------------------------------------------------------------------

def _live(rig, first=FIRST_LIVE, readers=None):
    return ("--first-reader", first, "--readers", readers or rig.population.live, "--limit", _ITEMS)


def _one_by_one(rig, sizes, how):
    return rig.helper("fanline-bench-pages", how, *_live(rig), "--pages", sizes.pages)


def _seconds(sizes):
    return sizes.pages / _PAGES_A_SECOND


def _load(rig, sizes, port, *more, **whose):
    return rig.helper("fanline-bench-pages", "load", *_live(rig, **whose), "--port", port,
                      "--duration", f"{_seconds(sizes) * 1e3:.0f}ms", *more)


def _row(name, pairs, beside, **more):
    rates = [[run["pages"] / run["seconds"] for run in side] for side in zip(*pairs)]
    return row(name, rates[0], "pages/s", beside, rates[1], items=_ITEMS, **more)


@contextmanager
def _api(rig):
    api = rig.api()
    try:
        yield api.serving
    finally:
        api.stop()
