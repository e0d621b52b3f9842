"""The storm: readers whose timelines are gone come back all at once, while posts go on being pushed.
Each is answered with a page at once and has a live timeline soon, and pushes keep their pace."""

import random
import statistics
import time

from bench.fanout import burst, pushing
from bench.measure import row
from bench.population import FIRST_LIVE
from bench.returning import return_at_once
from bench.when import When

_FOLLOWED = "live100"  # the one that has posted before: of these each reader follows many
_MONTH_MS = 30 * 86_400_000
_FIRST_POST = 10**18
_ROWS_A_STATEMENT = 1_000
_KEYS_A_COMMAND = 1_000
_SETTLE = 2  # seconds of pushes before the storm
_PATIENCE = 300
_LOOK_EVERY = 0.25  # seconds; a look costs the API a page of metrics


def storm(rig, sizes):
    """Three rows of the same storms: until all are live, beside the same return while nothing is
    pushed; the pushes beside the pace they are given, half of a burst's; the pages beside the
    requests."""
    rig.scene("compact")
    _post_for_a_month(rig, sizes.old_posts)
    readers = range(FIRST_LIVE, FIRST_LIVE + sizes.returning)
    keys = _keys(rig, readers)
    api = rig.api()
    rounds = []
    try:
        for number in range(sizes.storms + 1):
            calm = _calm(rig, api, readers, keys)
            result = _storm(rig, api, readers, keys, burst(rig) / 2, calm)
            rig.say(f"storm: {result['live']:.1f} s until all are live, {calm:.1f} s without pushes; "
                    f"{result['kept']:.2f} of the pace kept; {result['answers'].pages} pages, p50 "
                    f"{result['answers'].quantile(0.5):.2f} s, the last "
                    f"{result['answers'].seconds[-1]:.2f} s; {result['answers'].others}")
            if number:
                rounds.append({**result, "calm": calm})
    finally:
        api.stop()
    answers = [each["answers"] for each in rounds]
    yield row("storm_live", [each["live"] for each in rounds],
              f"s until {len(readers):,} who returned are live", "the same while nothing is pushed",
              [each["calm"] for each in rounds])
    yield row("storm_pushes", [each["pushed"] for each in rounds], "hints/s meanwhile",
              "half of a burst's, as published", [each["pace"] for each in rounds])
    yield row("storm_pages", [each.pages for each in answers], "requests answered with a page",
              "requests", [len(readers)] * len(answers),
              page_p50_s=statistics.median(each.quantile(0.5) for each in answers),
              page_p99_s=statistics.median(each.quantile(0.99) for each in answers))


# ---- what happens -------------------------------------------------------------------------------

def _calm(rig, api, readers, keys):
    """Seconds until all are live who return while nothing is pushed."""
    _forget(rig, keys)
    until_live, answers = _return(api, readers)
    assert answers.pages == len(readers), answers.others
    return until_live


def _return(api, readers):
    """Seconds from their first request until all are live, and the answers."""
    before = _rebuilds(api)
    live = When(lambda: _rebuilds(api) >= before + len(readers), _PATIENCE, _LOOK_EVERY)
    answers = return_at_once(api.serving, readers, _PATIENCE)
    return live.at() - answers.begin, answers


def _storm(rig, api, readers, keys, rate, calm):
    _forget(rig, keys)
    with pushing(rig, rate, _SETTLE + 6 * calm + 10):
        time.sleep(_SETTLE)
        hints, begin = rig.pushed(), time.monotonic()
        until_live, answers = _return(api, readers)
        pushed = (rig.pushed() - hints) / (time.monotonic() - begin)
    rig.wait_idle()
    there = sum(rig.redis("EXISTS", *some) for some in _in_parts(keys))
    assert there == len(keys), f"{there} of {len(keys)} timelines are live"
    return {"live": until_live, "pushed": pushed, "pace": rate * rig.ranges,
            "kept": pushed / (rate * rig.ranges), "answers": answers}


def _rebuilds(api):
    return api.scrape().total("fanline_api_rebuilds_total")


# ---- the scene ----------------------------------------------------------------------------------

def _post_for_a_month(rig, each):
    """Rows of posts at random moments of a month, as the dispatcher would have written them."""
    authors = rig.population.authors[_FOLLOWED]
    draw, newest = random.Random(1), rig.moments(1) - 1
    posts, last = {}, {}
    number = _FIRST_POST
    for author in range(authors.first, authors.first + authors.count):
        shard = rig.shard_of(author)
        moments = [newest - draw.randrange(_MONTH_MS) for _ in range(each)]
        last.setdefault(shard, []).append(f"({author},{max(moments)})")
        for moment in moments:
            posts.setdefault(shard, []).append(f"({author},{number},{moment})")
            number += 1
    for shard, rows in last.items():
        _insert(shard, "author (author_id, last_at)", rows)
    for shard, rows in posts.items():
        _insert(shard, "author_post (author_id, post_id, created_at_ms)", rows)


def _insert(shard, into, rows):
    with shard.client() as client:
        for begin in range(0, len(rows), _ROWS_A_STATEMENT):
            values = ",".join(rows[begin:begin + _ROWS_A_STATEMENT])
            client.query(f"INSERT IGNORE INTO {into} VALUES {values}")


def _keys(rig, readers):
    """Of their timelines, which are all live."""
    wanted = set(map(str, readers))
    keys = [key for key in rig.redis("KEYS", "tl:*") if key.rpartition(":")[2] in wanted]
    assert len(keys) == len(wanted), f"{len(keys)} of {len(wanted)} timelines are live"
    return keys


def _forget(rig, keys):
    """Their timelines have expired, and the index has noticed."""
    by_index = {}
    for key in keys:
        tagged, _, reader = key.removeprefix("tl:").rpartition(":")
        by_index.setdefault(f"live:{tagged}", []).append(reader)
    for some in _in_parts(keys):
        rig.redis("UNLINK", *some)
    for index, members in by_index.items():
        for some in _in_parts(members):
            rig.redis("ZREM", index, *some)


def _in_parts(some):
    return [some[begin:begin + _KEYS_A_COMMAND] for begin in range(0, len(some), _KEYS_A_COMMAND)]
