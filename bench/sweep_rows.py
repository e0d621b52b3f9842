"""Whether the sweep of reposts lets others pass: posts of authors with 200 live followers at a tenth of the rate at
which these drain, while reposts of a deleted post are deleted."""

import itertools
import statistics
import time

from bench.measure import row
from bench.moderate_rows import LAST_DELIVERY, run_at
from bench.patience import wait_done

_REPOSTS = 30_000  # more than are deleted meanwhile
_SECONDS = 8  # of posts
_FIRST_POST = 1 << 62  # of ids that nobody else uses
_ROWS_AT_ONCE = 5_000
_HOUR_MS = 3_600_000


def sweep_p99(rig, sizes):
    """The others' publish to last delivery beside the same without a sweep."""
    rig.scene("compact", dispatcher_args=("--sample-rate", "1"))
    others, reposters = (rig.population.authors[name] for name in ("live100", "few"))
    ids = itertools.count(_FIRST_POST)
    rate = [run_at(rig, others, others.count).rate for _ in range(2)][1] / 10  # the first warms up
    found = [_round(rig, others, reposters, rate, ids) for _ in range(sizes.rounds + 1)][1:]
    yield row("sweep_p99_ratio", [beside for _, beside, _ in found], "ms, p99 beside a sweep of reposts", "without",
              [calm for calm, _, _ in found], events_per_second=rate,
              deleted_per_second=statistics.median(deleted for _, _, deleted in found))


def _round(rig, others, reposters, rate, ids):
    calm = _p99(rig, others, rate)
    _repost_a_deleted_post(rig, reposters, ids)
    with rig.daemon("fanline-reconciler") as sweeper:
        def deleted():
            return sweeper.scrape().total("fanline_reposts_deleted_total")

        wait_done(deleted, 1, "the first repost to be deleted", rig.say)
        before, begin = deleted(), time.monotonic()
        beside = _p99(rig, others, rate)
        after, seconds = deleted(), time.monotonic() - begin
        assert after < _REPOSTS, "the sweep did not last"
        wait_done(deleted, _REPOSTS, "all reposts to be deleted", rig.say)
    rig.wait_idle()
    rig.say(f"p99 {calm:.1f} ms at {rate:.0f} posts/s, {beside:.1f} ms beside {(after - before) / seconds:,.0f} "
            "deletes/s")
    return calm, beside, (after - before) / seconds


def _p99(rig, authors, rate):
    events = min(authors.count, max(1, int(rate * _SECONDS)))

    def delivered():
        return rig.fleet.counters().histogram(LAST_DELIVERY).total

    before = rig.fleet.counters()
    rig.publish(authors, events, rate)
    wait_done(delivered, before.histogram(LAST_DELIVERY).total + events, "last deliveries", rig.say)
    return (rig.fleet.counters() - before).histogram(LAST_DELIVERY).quantile(0.99) * 1e3


def _repost_a_deleted_post(rig, reposters, ids):
    """Rows as dispatchers write them."""
    original, author, now = next(ids), reposters.first, int(time.time() * 1e3) - _HOUR_MS
    rig.shard_of(author).query("INSERT INTO author_post (author_id, post_id, created_at_ms, deleted) VALUES "
                               f"({author}, {original}, {now}, 1)")
    by_shard = {}
    for nth in range(_REPOSTS):
        user = reposters.first + nth % reposters.count
        by_shard.setdefault(rig.shard_of(user), []).append((user, next(ids)))
    for shard, rows in by_shard.items():
        for begin in range(0, len(rows), _ROWS_AT_ONCE):
            some = rows[begin:begin + _ROWS_AT_ONCE]
            shard.query("INSERT INTO author_post (author_id, post_id, created_at_ms, original_id, original_author) "
                        "VALUES " + ",".join(f"({user},{post},{now},{original},{author})" for user, post in some))
            shard.query("INSERT INTO repost (original_id, author_id, post_id) VALUES " +
                        ",".join(f"({original},{user},{post})" for user, post in some))
