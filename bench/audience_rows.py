"""What followers cost who are not live, and what a pusher knows of its readers: lists that are known and
unknown, a celebrity's posts, a takeover, memory."""

import statistics
import threading
import time
from contextlib import contextmanager
from functools import partial

from bench.backlog_run import Look, WrongResult, run_events
from bench.measure import interleaved, row
from bench.moderate_rows import run_at
from bench.population import FIRST_ASLEEP
from bench.rows import PER_PLAIN_POST, RSS_LIMIT_MB
from stack.programs.api import ApiClient

_TICK = 0.01  # seconds: processor time is told in these
_CHURN_EVERY = 0.1
_MOST_TAKEOVERS = 5
_LOOK_EVERY = 0.002
_PATIENCE = 120


def run_cold(rig, authors, posts):
    """As run_events, of authors nobody has posted for since the takeover."""
    rig.take_over()
    run = run_events(rig, authors, posts)
    if run.listed:
        raise WrongResult(f"{run.listed:.2f} of the lists were known")
    return run


def dead_cost_ratio(rig, sizes):
    """CPU of all processes for a follower who is not live: of events of authors with 200 followers, of whom
    10 are live, less that of as many events of authors with 10, all live. The latter get hints for the ranges
    of these ten alone. So once more, beside authors with 17, who get one for every range, as those with 200."""
    rig.scene("compact")
    authors, posts = rig.population.authors["live5"], sizes.posts["live5"]
    others = {"": rig.population.authors["live5_alone"], "_same_hints": rig.population.authors["live5_few"]}
    per_post = min(PER_PLAIN_POST, rig.population.live // 2)
    plain_posts = max(1, rig.deliveries_due(authors, posts) // per_post)
    pairs = interleaved(sizes.rounds, lambda _: [_burst_cpu(rig, each, posts) for each in (authors, *others.values())],
                        lambda seed: rig.plain_zadd(plain_posts, per_post, seed))
    plain, zadds = [beside for _, beside in pairs], plain_posts * per_post
    for number, (suffix, other) in enumerate(others.items(), start=1):
        dead = posts * (authors.followers - other.followers)
        yield row(f"dead_cost_ratio{suffix}", [max(_TICK, cpu[0] - cpu[number]) * 1e6 / dead for cpu, _ in pairs],
                  "CPU us/follower who is not live", "Redis for a plain ZADD",
                  [max(_TICK, run.redis_cpu) * 1e6 / zadds for run in plain],
                  beside_client_cpu_us=statistics.median(run.client_cpu for run in plain) * 1e6 / zadds)


def _burst_cpu(rig, authors, posts):
    run, due = run_at(rig, authors, posts), rig.deliveries_due(authors, posts)
    if (added := run.samples.total("fanline_deliveries_total", result="added")) != due:
        raise WrongResult(f"{added:.0f} deliveries where {due} were due")
    return _cpu(run)


def celebrity(rig, sizes):
    """CPU and time of a post to 1,000,000 followers of whom 50,000 are live, beside one of an author with only
    these 50,000: with both lists known, right after a takeover, and while both are followed and left."""
    rig.scene("compact", mirrors=1)
    star, alone = (rig.population.authors[name] for name in ("celebrity", "celebrity5_alone"))
    post = partial(run_events, rig, posts=1)
    try:
        rig.wake(alone.followers)
        pairs = interleaved(sizes.star_posts, lambda _: post(star), lambda _: post(alone))
        yield _of_posts("celebrity_live5", "CPU ms/post", star, alone, pairs, lambda run: _cpu(run) * 1e3)
        yield _of_posts("celebrity_live5_time", "ms, to the last delivery", star, alone, pairs,
                        lambda run: run.seconds * 1e3)
        with _changes(rig) as follow:
            pairs = interleaved(sizes.star_posts, lambda _: follow(star, post), lambda _: follow(alone, post))
        yield _of_posts("celebrity_live5_churn", "CPU ms/post beside follows and unfollows", star, alone, pairs,
                        lambda run: _cpu(run) * 1e3)
        pairs = interleaved(max(1, sizes.rounds // 2), lambda _: run_cold(rig, star, 1),
                            lambda _: [post(alone) for _ in range(2)][1])
        yield _of_posts("celebrity_live5_first", "CPU ms/post, the first since the takeover", star, alone, pairs,
                        lambda run: _cpu(run) * 1e3)
    finally:
        rig.abandon()


def takeover(rig, sizes):
    """From the moment a pusher begins to claim its ranges to its first delivery."""
    few = rig.population.authors["fans"].followers
    pairs = interleaved(min(sizes.rounds, _MOST_TAKEOVERS), lambda _: _takeover_ms(rig, sizes.taken_over),
                        lambda _: _takeover_ms(rig, few))
    yield row("takeover_live100k", [mine for mine, _ in pairs], f"ms to the first delivery, {sizes.taken_over:,} live",
              f"{few:,} live", [beside for _, beside in pairs])


def memory(rig, sizes):
    """Of a pusher of 100,000 live readers that has room for no more lists, while it delivers."""
    rig.scene("compact")
    try:
        rig.wake(sizes.taken_over - rig.population.live)
        for authors in rig.population.authors.values():
            hints = rig.pushed()
            rig.publish(authors, authors.count)
            rig.wait_pushed(hints + authors.count * rig.ranges)
        moments = run_events(rig, rig.population.authors["live100"], sizes.many_posts, watch_memory=True).moments
        held = rig.pusher.scrape()
        yield row("rss_pusher_full_mb", [max(moment.rss["pusher"] for moment in moments)],
                  "MB, lists full, the most during a run", "limit", [RSS_LIMIT_MB],
                  lists_mb=held.total("fanline_follower_lists_bytes") / 2**20,
                  live_readers=held.total("fanline_live_readers"))
    finally:
        rig.abandon()


def _cpu(run):
    return sum(run.cpu.values())


def _of_posts(name, unit, star, alone, pairs, figure):
    return row(name, [figure(mine) for mine, _ in pairs], f"{unit}, {star.followers:,} followers",
               f"{alone.followers:,} followers, all live", [figure(beside) for _, beside in pairs],
               listed_of=[statistics.median(run.listed for run in side) for side in zip(*pairs)])


@contextmanager
def _changes(rig):
    """A function that posts for an author whom a reader, who is not live, follows and leaves every 100 ms."""
    api = rig.api()
    readers = iter(range(2 * FIRST_ASLEEP, 3 * FIRST_ASLEEP))

    def change(author, done):
        client = ApiClient(api.serving)
        while not done.wait(_CHURN_EVERY):
            edge = f"/v1/users/{next(readers)}/following/{author}"
            for answer in (client.put(edge), client.delete(edge)):
                assert answer.status == 200, answer
        client.close()

    def posted(authors, post):
        done, syncs = threading.Event(), _syncs(rig)
        changing = threading.Thread(target=change, args=(authors.first, done))
        changing.start()
        try:
            time.sleep(10 * _CHURN_EVERY)
            return post(authors)
        finally:
            done.set()
            changing.join()
            rig.wait_idle()
            assert _syncs(rig) > syncs, "no change came to the pusher"

    try:
        yield posted
    finally:
        api.stop()


def _syncs(rig):
    return rig.fleet.counters().total("fanline_hints_done_total", kind="sync")


def _takeover_ms(rig, live):
    rig.empty_scene(of_each=1)
    rig.fill(FIRST_ASLEEP, live, 1, 1)
    rig.pusher.stop()
    rig.publish(rig.population.authors["fans"], 1)  # its hints wait
    rig.pusher.start()
    begun, give_up = None, time.monotonic() + _PATIENCE
    while time.monotonic() < give_up:
        time.sleep(_LOOK_EVERY)
        try:
            look = Look.at_pusher(rig.pusher)
        except (OSError, TypeError):  # it does not listen yet, or has no counters yet
            continue
        begun = begun or (look.at if look.takeovers else None)
        if look.deliveries["added"]:
            rig.say(f"{(look.at - begun) * 1e3:.0f} ms from the claim to the first delivery, {live:,} live")
            return max(_LOOK_EVERY, look.at - begun) * 1e3
    raise TimeoutError("no delivery after the takeover")
