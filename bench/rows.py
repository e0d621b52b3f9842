"""The rows: each measures one thing beside another in the same run. Every function yields one row
or several."""

import statistics
from typing import NamedTuple

from bench.backlog_run import run_events
from bench.measure import interleaved, row
from bench.moderate_rows import run_at
from bench.rig import WINDOW

PER_PLAIN_POST = 200  # sets a post of the other side goes to
RSS_LIMIT_MB = 200


class Sizes(NamedTuple):
    rounds: int
    posts: dict  # of a round, by block of authors
    many_posts: int  # of live100: those of the long run
    dispatched: int  # events of a round of dispatch_cost_ratio
    moderate: int  # events of a burst, and of each slower run beside it
    imported: int  # edges
    waiting: int  # posts of moderate, whose hints wait to be drained
    restarted: int  # of four members of a group, one after the other
    pages: int  # of a round
    reposters: int  # of one post
    returning: int  # readers who come back at once
    old_posts: int  # of each author whom they follow
    storms: int  # rounds of these
    town: int  # users of the graph that capacity is checked on, and copies of it
    copies: int
    warm: int  # rounds that warm up, of capacity and of what it is fitted to
    star_posts: int  # of the celebrity
    taken_over: int  # live readers of a pusher
    edges: tuple  # of a round of edge_latency
    scans: tuple  # of the rows of the scans


def deliveries(rig, sizes, share, encoding, variant="", pusher_args=(), run=run_events):
    """Deliveries per second, beside plain ZADD of as many members into as long sorted sets of the
    same Redis."""
    rig.scene(encoding, pusher_args)
    authors, posts = rig.population.authors[share], sizes.posts[share]
    due = rig.deliveries_due(authors, posts)
    per_post = min(PER_PLAIN_POST, rig.population.live // 2)
    plain_posts = max(1, due // per_post)
    plain_due = plain_posts * per_post

    pairs = interleaved(sizes.rounds, lambda _: run(rig, authors, posts),
                        lambda seed: rig.plain_zadd(plain_posts, per_post, seed))
    runs, plain = [mine for mine, _ in pairs], [beside for _, beside in pairs]
    yield row("_".join(filter(None, ["deliveries", share, encoding, variant])),
              [due / mine.seconds for mine in runs], "deliveries/s", "plain pipelined ZADD",
              [plain_due / run.seconds for run in plain],
              deliveries_per_round=due,
              probes_per_second=statistics.median(posts * authors.followers / mine.seconds
                                                  for mine in runs),
              posts_per_zadd=statistics.median(mine.posts_per_zadd for mine in runs),
              timelines_per_batch=statistics.median(mine.timelines_per_batch for mine in runs),
              listed=statistics.median(mine.listed for mine in runs),
              cpu_us_per_delivery=_cpu_us(runs, due),
              beside_redis_cpu_us=statistics.median(run.redis_cpu * 1e6 / plain_due for run in plain))


def cpu_of_pushers(rig, sizes):
    """CPU of all processes per delivery with two pushers of eight ranges each, beside one of sixteen."""
    authors, posts = rig.population.authors["live100"], sizes.many_posts

    def burst(pushers):
        rig.scene("compact", of_each=pushers)
        run, due = run_at(rig, authors, posts), rig.deliveries_due(authors, posts)
        made = run.samples.total("fanline_deliveries_total", result="added")
        assert made == due, f"{made:.0f} deliveries where {due} were due"
        return sum(run.cpu.values()) * 1e6 / due

    pairs = interleaved(sizes.rounds, lambda _: burst(2), lambda _: burst(1))
    yield row("scale_pushers", [two for two, _ in pairs], "CPU us/delivery, two dispatchers and pushers",
              "one of each", [one for _, one in pairs])


def timeline_bytes(rig, encoding):
    """What one more live timeline of 450 items costs Redis - key, TTL and place among the live
    readers included - beside the same items in a bare sorted set."""
    rig.fresh_redis(encoding)
    empty = rig.redis_bytes()
    rig.make_live(WINDOW, WINDOW)
    timelines = rig.redis_bytes()
    rig.make_plain_sets(WINDOW)
    both = rig.redis_bytes()
    count = rig.population.live
    yield row(f"timeline_bytes_{encoding}", [(timelines - empty) / count], "bytes",
              "the same items in a bare sorted set", [(both - timelines) / count],
              items=WINDOW)


def long_run(rig, sizes):
    """A backlog of a million deliveries in one go: whether it gets slower, whether memory grows."""
    rig.scene("compact")
    authors = rig.population.authors["live100"]
    moments = run_events(rig, authors, sizes.many_posts, watch_memory=True).moments
    due = rig.deliveries_due(authors, sizes.many_posts)
    ends = [reached(moments, due * fifth / 5) for fifth in range(1, 6)]
    fifths = [due / 5 / (end - begin) for begin, end in zip([0.0, *ends], ends)]
    yield row("last_fifth_of_a_million", [fifths[-1]], "deliveries/s", "the first fifth",
              [fifths[0]], deliveries=due, fifths=fifths)
    for daemon in ("dispatcher", "pusher"):
        held = [moment.rss[daemon] for moment in moments]
        after_a_fifth = next(moment.rss[daemon] for moment in moments
                             if moment.deliveries >= due / 5)
        yield row(f"rss_{daemon}_mb", [max(held)], "MB, the most during that run", "limit",
                  [RSS_LIMIT_MB], after_first_fifth_mb=after_a_fifth, at_end_mb=held[-1])


def dispatch_cost_ratio(rig, sizes):
    """CPU the dispatcher spends on an event of a celebrity, beside one of a known author. Nobody
    takes the hints meanwhile."""
    rig.dispatcher_alone()
    celebrity, known = (rig.population.authors[who] for who in ("celebrity", "known"))
    pairs = interleaved(sizes.rounds, lambda _: _dispatch_cost_us(rig, celebrity, sizes.dispatched),
                        lambda _: _dispatch_cost_us(rig, known, sizes.dispatched))
    yield row("dispatch_cost_ratio", [mine for mine, _ in pairs],
              f"CPU us/event, {celebrity.followers:,} followers",
              f"{known.followers:,} followers", [beside for _, beside in pairs],
              events_per_round=sizes.dispatched)


def _dispatch_cost_us(rig, author, events):
    before = rig.dispatched()
    rig.dispatcher.pause()
    try:
        rig.publish(author, events)
        meter = rig.cpu_meter()
    finally:
        rig.dispatcher.resume()
    rig.wait_dispatched(before + events)
    return meter.spent()["dispatcher"] / events * 1e6


def _cpu_us(runs, due):
    total = sum((run.cpu for run in runs), start=type(runs[0].cpu)())
    return {name: seconds * 1e6 / (due * len(runs)) for name, seconds in sorted(total.items())}


def reached(moments, deliveries):
    """When so many were done, between two looks by the straight line."""
    seconds, before = 0.0, 0
    for moment in moments:
        if moment.deliveries >= deliveries:
            share = (deliveries - before) / max(1, moment.deliveries - before)
            return seconds + share * (moment.seconds - seconds)
        seconds, before = moment.seconds, moment.deliveries
    raise ValueError(f"only {before} of {deliveries}")
